import pg from 'pg';

/** What goes to the server as a value of a statement: text, or bytes as they are. */
export type Parameter = string | Buffer | null;

/** As `pg` sends values: arrays as array literals, instants with their zone, objects as JSON. Throws for what cannot be sent. */
export const toParameter = (pg as unknown as { utils: { prepareValue(value: unknown): Parameter } }).utils.prepareValue;

const LENGTH_BYTES = 4;
/** UTF-8 needs no more for one UTF-16 unit of a string. */
const MAX_UNIT_BYTES = 3;
const USUAL_BYTES = 16_384;
/** A buffer that grew beyond this for one write is not kept for the next. */
const KEPT_BYTES = 1_048_576;
const EXECUTE_ALL = Buffer.from('E\0\0\0\x09\0\0\0\0\0', 'latin1');
const DESCRIBE_PORTAL = Buffer.from('D\0\0\0\x06P\0', 'latin1');
const SYNC = Buffer.from('S\0\0\0\x04', 'latin1');

/**
 * Messages of PostgreSQL's extended query protocol, one behind the other in one buffer, so that they leave in one write.
 * Only unnamed portals, results as text, all rows at once.
 */
export class Messages {
  #bytes = Buffer.allocUnsafe(USUAL_BYTES);
  #end = 0;

  /** Prepares a statement under this name, in place of one that may be there; without a name, for the next `bind` alone. */
  parse(name: string, text: string): void {
    if (name !== '') {
      const close = this.#open('C', name.length * MAX_UNIT_BYTES + 2);
      this.#bytes[this.#end++] = 0x53;
      this.#terminated(name);
      this.#close(close);
    }
    const start = this.#open('P', (name.length + text.length) * MAX_UNIT_BYTES + 4);
    this.#terminated(name);
    this.#terminated(text);
    this.#int16(0);
    this.#close(start);
  }

  /** Commands without values, with a sync of their own. */
  query(text: string): void {
    const start = this.#open('Q', text.length * MAX_UNIT_BYTES + 1);
    this.#terminated(text);
    this.#close(start);
  }

  bind(name: string, parameters: readonly Parameter[]): void {
    const start = this.#open('B', name.length * MAX_UNIT_BYTES + 10 + parameters.length * 2);
    this.#terminated('');
    this.#terminated(name);
    this.#int16(parameters.length);
    for (const parameter of parameters) this.#int16(Buffer.isBuffer(parameter) ? 1 : 0);
    this.#int16(parameters.length);
    for (const parameter of parameters) this.#parameter(parameter);
    this.#reserve(2);
    this.#int16(0);
    this.#close(start);
  }

  describe(): void {
    this.#raw(DESCRIBE_PORTAL);
  }

  execute(): void {
    this.#raw(EXECUTE_ALL);
  }

  sync(): void {
    this.#raw(SYNC);
  }

  /** Forgets what may be left of messages that could not be finished. */
  start(): void {
    this.#end = 0;
  }

  /** A copy of the messages since the start. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#end));
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(USUAL_BYTES);
    return taken;
  }

  #parameter(parameter: Parameter): void {
    if (parameter === null) {
      this.#reserve(LENGTH_BYTES);
      this.#end = this.#bytes.writeInt32BE(-1, this.#end);
      return;
    }
    const isText = typeof parameter === 'string';
    this.#reserve(LENGTH_BYTES + (isText ? parameter.length * MAX_UNIT_BYTES : parameter.length));
    const start = this.#end + LENGTH_BYTES;
    const length = isText ? this.#bytes.write(parameter, start) : parameter.copy(this.#bytes, start);
    this.#bytes.writeInt32BE(length, this.#end);
    this.#end = start + length;
  }

  /** Begins a message of at most `size` bytes, and more where more is reserved; answers where it begins. */
  #open(type: string, size: number): number {
    this.#reserve(1 + LENGTH_BYTES + size);
    const start = this.#end;
    this.#bytes[start] = type.charCodeAt(0);
    this.#end = start + 1 + LENGTH_BYTES;
    return start;
  }

  /** A message's length counts itself and leaves out the type. */
  #close(start: number): void {
    this.#bytes.writeInt32BE(this.#end - start - 1, start + 1);
  }

  #terminated(text: string): void {
    if (text !== '') this.#end += this.#bytes.write(text, this.#end);
    this.#bytes[this.#end++] = 0;
  }

  #int16(value: number): void {
    this.#end = this.#bytes.writeUInt16BE(value, this.#end);
  }

  #raw(message: Buffer): void {
    this.#reserve(message.length);
    this.#end += message.copy(this.#bytes, this.#end);
  }

  #reserve(size: number): void {
    if (this.#end + size <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#end + size));
    this.#bytes.copy(grown, 0, 0, this.#end);
    this.#bytes = grown;
  }
}
