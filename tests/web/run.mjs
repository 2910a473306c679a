// Runs the page's tests, or says why it cannot: exit status 77 is "skipped" to ctest.
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const skip = why => { console.log(`Page tests skipped: ${why}`); process.exit(77); };

const chromium = process.env.SOFTSCOPE_CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(chromium)) skip(`${chromium} is missing; install Debian's chromium or set SOFTSCOPE_CHROMIUM`);
if (!existsSync(join(here, '../../web/node_modules/playwright-core'))) skip('web/node_modules is missing; run npm ci in web/');
if (!process.env.SOFTSCOPE_PROGRAM) skip('SOFTSCOPE_PROGRAM does not name the program');

const files = readdirSync(here).filter(name => name.endsWith('.test.mjs')).map(name => join(here, name));
const {status} = spawnSync(process.execPath, ['--test', '--test-concurrency=1', ...files], {stdio: 'inherit'});
process.exit(status ?? 1);
