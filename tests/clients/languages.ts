/**
 * The languages of docs/samples, and how their samples are compiled and run.
 * Their programs are Debian's, which root installs where they are missing.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CHECKOUT, NODE } from '@laurel/testing';
import { install, lastLine } from '../compose/engine.ts';

export interface Language {
  readonly name: string;
  /** Of docs/samples. */
  readonly folder: string;
  readonly programs: readonly string[];
  /** What brings the programs. */
  readonly packages: readonly string[];
  /** Prints the version, after the name of the language as docs/samples/README.md has it. */
  readonly version: string;
  /** Compiles the folder, which is the working directory of both commands. */
  readonly build?: string;
  /** Stands before the name of a sample and its arguments. */
  readonly command: readonly string[];
}

const C_SHARP_REFERENCES = '-r:System.Net.Http.dll -r:System.Runtime.Serialization.dll -r:System.Xml.dll';

export const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    folder: 'python',
    programs: ['python3'],
    packages: ['python3'],
    version: 'python3 --version',
    command: ['python3', 'main.py'],
  },
  {
    name: 'Go',
    folder: 'go',
    programs: ['go'],
    packages: ['golang-go'],
    version: 'go version | sed "s/.* go\\([0-9]\\)/Go \\1/"',
    build: 'go vet . && go build -o samples .',
    command: ['./samples'],
  },
  {
    name: 'C#',
    folder: 'csharp',
    programs: ['mcs', 'mono'],
    packages: [
      'mono-mcs',
      'mono-runtime',
      'libmono-system-net-http4.0-cil',
      'libmono-system-runtime-serialization4.0-cil',
    ],
    version: 'mono --version | sed "s/.* version /Mono /"',
    build: `mcs -warnaserror -langversion:7.2 -out:samples.exe ${C_SHARP_REFERENCES} *.cs`,
    command: ['mono', 'samples.exe'],
  },
  {
    name: 'Java',
    folder: 'java',
    programs: ['javac', 'java'],
    packages: ['default-jdk-headless'],
    version: 'javac --version | sed "s/javac /Java /"',
    build: 'javac --release 11 -Werror -d classes *.java',
    // The flags make a short run short.
    command: ['java', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', 'classes', 'Main'],
  },
  {
    name: 'PHP',
    folder: 'php',
    programs: ['php'],
    packages: ['php-cli'],
    version: 'php --version',
    command: ['php', '-d', 'display_errors=stderr', 'main.php'],
  },
  {
    name: 'Ruby',
    folder: 'ruby',
    programs: ['ruby'],
    packages: ['ruby'],
    version: 'ruby --version | sed "s/^ruby /Ruby /"',
    command: ['ruby', '-w', 'main.rb'],
  },
  {
    name: 'Node',
    folder: 'node',
    programs: [NODE],
    packages: [],
    version: `'${NODE}' --version | sed "s/^v/Node /"`,
    command: [NODE, 'main.mjs'],
  },
];

/** Of the compilers: Go keeps what it has compiled here, and asks no server for anything. */
export const BUILD_ENVIRONMENT = {
  GOCACHE: join(CHECKOUT, 'node_modules/.cache/laurel/go'),
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
};

/**
 * Installs the languages that are missing, and returns why each of those that still are cannot be
 * run. With CI in the environment it rejects for them.
 */
export async function findMissingLanguages(): Promise<ReadonlyMap<Language, string>> {
  const wanted = LANGUAGES.filter((language) => !isInstalled(language));
  const failure = wanted.length === 0 ? undefined : await installAll(wanted);
  const missing = wanted.filter((language) => !isInstalled(language));
  const reasons = missing.map(({ name, programs }) => {
    return `${name} needs ${programs.join(' and ')}: ${failure ?? 'the packages did not bring it'}`;
  });
  if (process.env.CI && reasons.length > 0) throw new Error(reasons.join('\n'));
  return new Map(missing.map((language, index) => [language, reasons[index] ?? '']));
}

/** Returns why that failed, or undefined. */
async function installAll(languages: readonly Language[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can install it';
  process.stderr.write(`Installing ${languages.map(({ name }) => name).join(', ')} (Debian's packages) ...\n`);
  const packages = languages.flatMap((language) => language.packages);
  // Another process that installs the same ends with the last of them.
  const [program = ''] = languages.at(-1)?.programs ?? [];
  return install(join('/usr/bin', program), packages).then(
    () => undefined,
    (error: unknown) => `apt-get cannot install it: ${lastLine(error)}`,
  );
}

function isInstalled({ programs }: Language): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return programs.every((program) =>
    folders.some((folder) => existsSync(join(program.startsWith('/') ? '/' : folder, program))),
  );
}
