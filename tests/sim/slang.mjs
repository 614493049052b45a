// slang.mjs BUNDLE TOP FOLDER FILE...: parses the files strictly with the slang inside YoWASP's yosys. Files lie in a
// virtual file system, flat, with every .svh of FOLDER beside them. Prints what slang says; exits 1 when it finds
// anything.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [bundle, top, folder, ...files] = process.argv.slice(2);
const { runYosys } = await import(pathToFileURL(bundle).href);

const tree = {};
for (const name of readdirSync(folder))
  if (name.endsWith('.svh')) tree[name] = readFileSync(join(folder, name), 'utf8');
for (const file of files) tree[basename(file)] = readFileSync(file, 'utf8');

let text = '';
const collect = (bytes) => { if (bytes) text += new TextDecoder().decode(bytes); };
// Casts to a width that is a parameter are useless at some widths, and Verilator asks for them at the others.
const names = files.map((file) => basename(file)).join(' ');
const command = `read_slang --threads 1 --std 1800-2017 --lint-only -Wextra -Wno-useless-cast --top ${top} ${names}`;
try {
  await runYosys(['-p', command], tree, { stdout: collect, stderr: collect });
} catch (error) {
  if (error.code === undefined) throw error; // with a code it is how yosys ended
}

// --lint-only brings "unsupported" errors of the front end's own, with no file in front; everything else counts.
text = text.replace(/\x1b\[\d+m/g, '');
const own = text.split('\n').filter((line) => /^error: .*(unsupported|no longer supported)/.test(line)).length;
const summary = text.match(/Build (?:failed|succeeded): (\d+) errors?, (\d+) warnings?/);
const found = summary ? Number(summary[1]) - own + Number(summary[2]) : 1;
if (found) console.log(text);
console.log(`slang: ${found} errors and warnings in ${top}`);
process.exit(found ? 1 : 0);
