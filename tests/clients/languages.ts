/**
 * The languages of docs/samples, and how their samples are compiled and run. The programs are
 * Debian packages. Root installs those that are missing.
 */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CHECKOUT, NODE } from '@laurel/testing';
import { install, lastLine } from '../compose/engine.ts';

export interface Language {
  readonly name: string;
  /** The folder in docs/samples. */
  readonly folder: string;
  readonly programs: readonly string[];
  /** The Debian packages that contain the programs. */
  readonly packages: readonly string[];
  /** Prints the version after the name of the language, as docs/samples/README.md writes it. */
  readonly version: string;
  /** Compiles the folder. It is the working directory of both commands. */
  readonly build?: string;
  /** The command, without the name of a sample and its arguments. */
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
    // The flags make a short run faster.
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

/**
 * The environment of the compilers. Go keeps here what it has compiled, and asks no server for
 * anything.
 */
export const BUILD_ENVIRONMENT = {
  GOCACHE: join(CHECKOUT, 'node_modules/.cache/laurel/go'),
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
};

/**
 * Installs the languages that are missing. Returns those that still cannot be run, each with the
 * reason. With CI in the environment, a missing language rejects instead.
 */
export async function findMissingLanguages(): Promise<ReadonlyMap<Language, string>> {
  const wanted = LANGUAGES.filter((language) => !isInstalled(language));
  const failure = wanted.length === 0 ? undefined : await installAll(wanted);
  const missing = wanted.filter((language) => !isInstalled(language));
  const reasons = missing.map(({ name, programs }) => {
    return `${name} needs ${programs.join(' and ')}: ${failure ?? 'the packages do not contain it'}`;
  });
  if (process.env.CI && reasons.length > 0) throw new Error(reasons.join('\n'));
  return new Map(missing.map((language, index) => [language, reasons[index] ?? '']));
}

/** Returns the reason if the installation failed. */
async function installAll(languages: readonly Language[]): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'only root can install it';
  process.stderr.write(`Installing ${languages.map(({ name }) => name).join(', ')} (Debian's packages) ...\n`);
  const packages = languages.flatMap((language) => language.packages);
  // The last program of the list exists once another process that installs the same has finished.
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
