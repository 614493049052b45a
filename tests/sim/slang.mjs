// slang.mjs BUNDLE TOP FOLDERS FILE...: parses the files strictly with the slang inside YoWASP's yosys. Files lie in a
// virtual file system, flat, with every .svh of the FOLDERS (a:b:c) beside them. Prints what slang says; exits 1 when
// it finds anything. UVM's own warnings are its own.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [bundle, top, folders, ...files] = process.argv.slice(2);
const { runYosys } = await import(pathToFileURL(bundle).href);

const tree = {};
for (const folder of folders.split(':'))
  for (const name of readdirSync(folder))
    if (name.endsWith('.svh')) tree[name] = readFileSync(join(folder, name), 'utf8');
for (const file of files) tree[basename(file)] = readFileSync(file, 'utf8');

let text = '';
const collect = (bytes) => { if (bytes) text += new TextDecoder().decode(bytes); };
// Casts to a width that is a parameter are useless at some widths, and Verilator asks for them at the others.
const names = files.map((file) => basename(file)).join(' ');
// UVM is one file with its macros in it, which hold for the files after it in a single unit only; 2017's have an int
// for a condition.
const uvm = names.includes('uvm_pkg_all') ? '--single-unit --suppress-warnings uvm_pkg_all* -Wno-int-bool-conv' : '';
const options = "--threads 1 --std 1800-2017 --lint-only -Wextra -Wno-useless-cast";
const command = `read_slang ${options} ${uvm} --top ${top} ${names}`;
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
