/** A picture of a page with few colours: about half the bytes, and no visible difference. */
import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** One byte can name this many colours. */
const MAX_COLOURS = 256;
const PALETTE_TYPE = 3;

/** A screenshot of what the page shows. */
export async function smallPng(page: Page): Promise<Buffer> {
  const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const { width, height, colours } = await pixelsOf(page, shot);
  const palette = paletteOf(colours);
  const nearest = new Map(palette.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, colour] of colours.entries()) {
    const index = nearest.get(colour) ?? nearestOf(palette, colour);
    nearest.set(colour, index);
    // Each row begins with a zero: it has no filter.
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = index;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, PALETTE_TYPE], 8);
  const colourBytes = Buffer.from(palette.flatMap(channelsOf));
  const data = deflateSync(rows, { level: 9 });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colourBytes),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Row by row, as 0xbbggrr. */
  readonly colours: Uint32Array;
}

/** Decodes the picture in an empty page, because the policy of that page allows it. */
async function pixelsOf(page: Page, png: Buffer): Promise<Pixels> {
  const decoder = await page.context().newPage();
  const decode = `(async () => {
    const png = await fetch('data:image/png;base64,${png.toString('base64')}');
    const image = await createImageBitmap(await png.blob());
    const { width, height } = image;
    const canvas = new OffscreenCanvas(width, height).getContext('2d');
    canvas.drawImage(image, 0, 0);
    const reader = new FileReader();
    reader.readAsDataURL(new Blob([canvas.getImageData(0, 0, width, height).data]));
    await new Promise((resolve) => reader.addEventListener('load', resolve));
    return { width, height, pixels: reader.result.slice(reader.result.indexOf(',') + 1) };
  })()`;
  const { width, height, pixels } = (await decoder.evaluate(decode)) as Record<'width' | 'height', number> & {
    readonly pixels: string;
  };
  await decoder.close();
  const bytes = Buffer.from(pixels, 'base64');
  const colours = new Uint32Array(width * height);
  for (const at of colours.keys()) colours[at] = bytes.readUIntLE(at * 4, 3);
  return { width, height, colours };
}

/** The most frequent colours. */
function paletteOf(colours: Uint32Array): readonly number[] {
  const counts = new Map<number, number>();
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const byCount = [...counts].sort(([, one], [, other]) => other - one);
  return byCount.slice(0, MAX_COLOURS).map(([colour]) => colour);
}

function nearestOf(palette: readonly number[], colour: number): number {
  const wanted = channelsOf(colour);
  const distances = palette.map((one) =>
    channelsOf(one).reduce((sum, value, channel) => sum + (value - (wanted[channel] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}

function channelsOf(colour: number): readonly number[] {
  return [colour & 255, (colour >> 8) & 255, colour >> 16];
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
