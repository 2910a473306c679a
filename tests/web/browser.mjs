// Opening pages for the tests: Debian's chromium, the program that makes pages, and a watch over every page for
// console errors and requests. Relies on: web/node_modules (playwright-core, axe-core), SOFTSCOPE_PROGRAM.
import {execFileSync} from 'node:child_process';
import {readFileSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import assert from 'node:assert/strict';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const {chromium} = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

export const program = process.env.SOFTSCOPE_PROGRAM;
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export const folder = mkdtempSync(join(tmpdir(), 'softscope-page-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

// `softscope report` of these documents; the page's path.
export function makePage(name, ...documents) {
  const files = documents.map((document, index) => {
    const path = join(folder, `${name}-${index}.json`);
    writeFileSync(path, JSON.stringify(document));
    return path;
  });
  const page = join(folder, `${name}.html`);
  execFileSync(program, ['report', ...files, '-o', page], {stdio: ['ignore', 'ignore', 'inherit']});
  return page;
}

export const launch = () => chromium.launch({executablePath: process.env.SOFTSCOPE_CHROMIUM ?? '/usr/bin/chromium', args: FLAGS});

// A page that is ready; `quiet()` asserts that it logged no error and asked for nothing but itself, `work()` is how many
// seconds its main thread has been busy since it was opened (which a busy machine stretches less than the clock).
export async function open(browser, path, {width = 1280, scheme = 'light', hash = ''} = {}) {
  const context = await browser.newContext({viewport: {width, height: 900}, colorScheme: scheme, acceptDownloads: true, reducedMotion: 'reduce'});
  const page = await context.newPage();
  const address = pathToFileURL(path).href, trouble = [];
  page.on('console', message => ['error', 'warning'].includes(message.type()) && trouble.push(`console: ${message.text()}`));
  page.on('pageerror', error => trouble.push(`error: ${error.message}`));
  page.on('dialog', dialog => { trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => {
    const url = request.url();
    if (!url.startsWith(address) && !url.startsWith('data:') && !url.startsWith('blob:')) trouble.push(`request: ${url}`);
  });
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable', {timeDomain: 'threadTicks'});
  const work = async () => (await session.send('Performance.getMetrics')).metrics.find(({name}) => name === 'TaskDuration').value;
  const begin = performance.now();
  await page.goto(address + hash);
  await page.waitForSelector('html[data-ready]', {timeout: 20000}).catch(() => assert.fail(`the page never was ready: ${trouble.join('; ')}`));
  const readyAfter = performance.now() - begin;
  return {page, readyAfter, work, quiet: () => assert.deepEqual(trouble, []), close: () => context.close()};
}

// Every accessibility rule of axe-core but none about things outside the page.
export async function axe(page) {
  await page.evaluate(axeSource);
  const {violations} = await page.evaluate(() => window.axe.run(document, {resultTypes: ['violations']}));
  return violations.map(({id, help, nodes}) => `${id}: ${help}: ${nodes.slice(0, 3).map(node => `${node.target.join(' ')} [${node.any.concat(node.all).map(check => check.message).join('; ').slice(0, 160)}]`).join(' | ')}`);
}

// Text of the file that a click saves.
export async function saved(page, click) {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return readFileSync(await download.path(), 'utf8');
}
