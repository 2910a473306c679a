// node screenshots.mjs PAGES IMAGES: photographs of the report pages that scripts/screenshots.sh made.
// Relies on: tests/web/browser.mjs.
import {statSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {launch, open} from '../tests/web/browser.mjs';

const [pages, images] = process.argv.slice(2).map(path => resolve(path));

// What to photograph: the page, the choice in its address, the screen, and the part (none: what fits the screen).
const shots = [
  {name: 'report', page: 'smollm2', height: 1490},
  {name: 'report-layers', page: 'smollm2', part: '#layers'},
  {name: 'report-head', page: 'minilm', hash: '#layer=0&head=2', part: '#head'},
  {name: 'report-text', page: 'smollm2', hash: '#token=0', part: '#text'},
  {name: 'report-difference', page: 'two-texts', hash: '#view=difference', part: '#heads'},
  {name: 'report-dark', page: 'minilm', hash: '#metric=first_key', part: '#heads', scheme: 'dark'},
  {name: 'report-phone', page: 'smollm2', width: 390, height: 1150},
];

const browser = await launch();
for (const {name, page: file, hash, part, width = 1280, height = 900, scheme = 'light'} of shots) {
  const {page, quiet, close} = await open(browser, join(pages, `${file}.html`), {hash, width, scheme});
  await page.setViewportSize({width, height});
  await page.addStyleTag({content: 'nav { position: static !important; }'}); // or it would lie over tall parts
  await page.waitForTimeout(200); // charts follow the width
  const path = join(images, `${name}.png`);
  await (part ? page.locator(part).screenshot({path}) : page.screenshot({path}));
  quiet();
  await close();
  console.log(`${name}.png ${Math.round(statSync(path).size / 1024)} KiB`);
}
await browser.close();
