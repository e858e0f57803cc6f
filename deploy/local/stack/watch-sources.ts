/**
 * Watches the source files of a service and calls back when some of them change: its own sources
 * and migrations, and the sources of the libraries that its package.json names, directly or
 * transitively. Tests and derived files are not watched.
 */
import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

/**
 * An editor writes a file in several steps, and a checkout writes many files. All changes within
 * this time cause one call.
 */
const QUIET_MS = 100;
const SOURCE = /(?:\.(?:ts|mjs)|\/migrations\/[^/]+\.sql|\/grants\.sql)$/;
const NO_SOURCE = /\.(?:test|fixture)\.ts$/;
const UNWATCHED_FOLDERS = ['node_modules'];

/** The folders of a service and of the libraries that it depends on. */
export function sourceFolders(root: string, service: string): readonly string[] {
  const folders = new Set<string>();
  const add = (folder: string) => {
    if (folders.has(folder)) return;
    folders.add(folder);
    for (const library of librariesOf(join(root, folder, 'package.json'))) add(join('libs', library));
  };
  add(join('services', service));
  return [...folders].map((folder) => join(root, folder));
}

function librariesOf(file: string): readonly string[] {
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(readFileSync(file, 'utf8'));
  return Object.keys(dependencies).flatMap((name) =>
    name.startsWith('@laurel/') ? name.slice('@laurel/'.length) : [],
  );
}

/** Calls back with the absolute paths of the files that changed. Disposing ends the watch. */
export function watchSources(folders: readonly string[], onChange: (files: readonly string[]) => void): Disposable {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let quiet: NodeJS.Timeout | undefined;

  const report = () => {
    const files = [...changed];
    changed.clear();
    onChange(files);
  };
  const onEvent = (path: string) => {
    if (isFolder(path)) watchFolder(path);
    if (!SOURCE.test(path) || NO_SOURCE.test(path)) return;
    changed.add(path);
    clearTimeout(quiet);
    quiet = setTimeout(report, QUIET_MS);
  };
  // Folders are watched: a watch on a file would end when an editor replaces the file by renaming.
  const watchFolder = (folder: string) => {
    if (watchers.has(folder) || UNWATCHED_FOLDERS.some((name) => folder.endsWith(`/${name}`))) return;
    const watcher = watch(folder, (_event, name) => name !== null && onEvent(join(folder, name)));
    watchers.set(folder, watcher);
    watcher.on('error', () => undefined);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) watchFolder(join(folder, entry.name));
    }
  };
  for (const folder of folders) watchFolder(folder);

  return {
    [Symbol.dispose]() {
      clearTimeout(quiet);
      for (const watcher of watchers.values()) watcher.close();
    },
  };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
