import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, parseCidrs } from './address.ts';
import { checkUrl } from './url.ts';

const NOT_PUBLIC = 'The host is not a public address.';
const BAD_CHARACTERS = 'The URL must not contain spaces, control characters or backslashes.';
const BAD_PORT = 'The port must be 443 or at least 1024.';
const INVALID = 'This is not a valid URL.';
const BAD_NAME = 'The host is not a valid name.';

function hrefOf(text: string): string {
  const checked = checkUrl(text);
  return checked.ok ? checked.url.href : checked.reason;
}

describe('an untrusted URL', () => {
  it.each([
    ['https://example.com', 'https://example.com/'],
    ['https://example.com/hooks?a=1&b=%2F', 'https://example.com/hooks?a=1&b=%2F'],
    ['HTTPS://EXAMPLE.COM/Hooks', 'https://example.com/Hooks'],
    ['https://example.com:443/', 'https://example.com/'],
    ['https://example.com:1024/', 'https://example.com:1024/'],
    ['https://example.com:65535/', 'https://example.com:65535/'],
    ['https://example.com:0443/', 'https://example.com/'],
    ['https://a_b.example.com/', 'https://a_b.example.com/'],
    ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
    ['https://bücher.example/', 'https://xn--bcher-kva.example/'],
    ['https://ExAmPlE.com/', 'https://example.com/'],
    ['https://e%78ample.com/', 'https://example.com/'],
    ['https://receiver/', 'https://receiver/'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://8.8.8.8:443/hooks?a=1', 'https://8.8.8.8/hooks?a=1'],
    ['https://134744072/', 'https://8.8.8.8/'],
    ['https://[2606:4700:4700::1111]:8443/', 'https://[2606:4700:4700::1111]:8443/'],
    ['https://[::ffff:8.8.8.8]/', 'https://[::ffff:808:808]/'],
    ['https:example.com', 'https://example.com/'],
    ['https:///example.com', 'https://example.com/'],
    ['https://@example.com/', 'https://example.com/'],
    ['https://example.com/..//a/./b', 'https://example.com//a/b'],
    ['https://example.com/?', 'https://example.com/?'],
    [`https://example.com/${'a'.repeat(2_028)}`, `https://example.com/${'a'.repeat(2_028)}`],
  ])('the URL %j is accepted', (text, href) => {
    expect(hrefOf(text)).toBe(href);
  });

  it.each([
    // Hosts that are addresses outside the public ones, in every notation.
    ['https://127.0.0.1/', NOT_PUBLIC],
    ['https://127.1/', NOT_PUBLIC],
    ['https://127.0.0.1./', NOT_PUBLIC],
    ['https://2130706433/', NOT_PUBLIC],
    ['https://0x7f000001/', NOT_PUBLIC],
    ['https://0x7f.1/', NOT_PUBLIC],
    ['https://0177.0.0.1/', NOT_PUBLIC],
    ['https://017700000001/', NOT_PUBLIC],
    ['https://0/', NOT_PUBLIC],
    ['https://%31%32%37.0.0.1/', NOT_PUBLIC],
    ['https://１２７.０.０.１/', NOT_PUBLIC],
    ['https://①②⑦.⓪.⓪.①/', NOT_PUBLIC],
    ['https://127。0。0。1/', NOT_PUBLIC],
    ['https://169.254.169.254/latest/meta-data/', NOT_PUBLIC],
    ['https://168.63.129.16/', NOT_PUBLIC],
    ['https://10.0.0.1:8443/', NOT_PUBLIC],
    ['https://10.1/', NOT_PUBLIC],
    ['https://0xa9fea9fe/', NOT_PUBLIC],
    ['https://0251.0376.0251.0376/', NOT_PUBLIC],
    ['https://2852039166/', NOT_PUBLIC],
    ['https://172.16.0.1/', NOT_PUBLIC],
    ['https://192.168.0.1/', NOT_PUBLIC],
    ['https://100.64.0.1/', NOT_PUBLIC],
    ['https://224.0.0.1/', NOT_PUBLIC],
    ['https://255.255.255.255/', NOT_PUBLIC],
    ['https://[::ffff:10.0.0.1]/', NOT_PUBLIC],
    ['https://[64:ff9b::a00:1]/', NOT_PUBLIC],
    ['https://[2002:a00:1::]/', NOT_PUBLIC],
    ['https://[fd00::1]/', NOT_PUBLIC],
    ['https://[fe80::1]/', NOT_PUBLIC],
    ['https://172.31.255.254/', NOT_PUBLIC],
    ['https://192.168.1.1/', NOT_PUBLIC],
    ['https://0.0.0.0/', NOT_PUBLIC],
    ['https://%31%36%39.254.169.254/', NOT_PUBLIC],
    ['https://１６９.254.169.254/', NOT_PUBLIC],
    ['https://[::]/', NOT_PUBLIC],
    ['https://[::1]/', NOT_PUBLIC],
    ['https://[0:0:0:0:0:0:0:1]/', NOT_PUBLIC],
    ['https://[::7f00:1]/', NOT_PUBLIC],
    ['https://[::127.0.0.1]/', NOT_PUBLIC],
    ['https://[::ffff:127.0.0.1]/', NOT_PUBLIC],
    ['https://[::FFFF:7F00:1]/', NOT_PUBLIC],
    ['https://[64:ff9b::7f00:1]/', NOT_PUBLIC],
    ['https://[2002:7f00:1::]/', NOT_PUBLIC],
    ['https://[fd00:ec2::254]/', NOT_PUBLIC],
    ['https://[64:ff9b::10.0.0.1]/', NOT_PUBLIC],
    ['https://localhost/', NOT_PUBLIC],
    ['https://LOCALHOST:8443/', NOT_PUBLIC],
    ['https://localhost./', NOT_PUBLIC],
    ['https://api.localhost/', NOT_PUBLIC],
    ['https://ⓛocalhost/', NOT_PUBLIC],
    // Texts that are not hosts.
    ['https://', INVALID],
    ['https:///', INVALID],
    ['https://:443/', INVALID],
    ['https://?a', INVALID],
    ['https://[fe80::1%25eth0]/', INVALID],
    ['https://[fe80::1%eth0]/', INVALID],
    ['https://[::1/', INVALID],
    ['https://256.256.256.256/', INVALID],
    ['https://1.2.3.4.5/', INVALID],
    ['https://0x100000000/', INVALID],
    ['https://exa%00mple.com/', INVALID],
    ['https://exa%20mple.com/', INVALID],
    ['https://example.com%2f@127.0.0.1/', 'The URL must not contain a user name or password.'],
    ['https://example.com./', 'The host must not end with a dot.'],
    ['https://example..com/', BAD_NAME],
    ['https://.example.com/', BAD_NAME],
    ['https://-example.com/', BAD_NAME],
    ["https://exam'ple.com/", BAD_NAME],
    ['https://*.example.com/', BAD_NAME],
    [`https://${'a'.repeat(64)}.example/`, BAD_NAME],
    [`https://${'a.'.repeat(130)}example/`, BAD_NAME],
    // Ports.
    ['https://example.com:0/', BAD_PORT],
    ['https://example.com:22/', BAD_PORT],
    ['https://example.com:80/', BAD_PORT],
    ['https://example.com:442/', BAD_PORT],
    ['https://example.com:1023/', BAD_PORT],
    ['https://example.com:65536/', INVALID],
    ['https://example.com:https/', INVALID],
    ['https://example.com:-1/', INVALID],
    // User names, fragments, schemes.
    ['https://user@example.com/', 'The URL must not contain a user name or password.'],
    ['https://user:password@example.com/', 'The URL must not contain a user name or password.'],
    ['https://:@example.com/#', 'The URL must not contain a fragment.'],
    ['https://:password@example.com/', 'The URL must not contain a user name or password.'],
    ['https://example.com@127.0.0.1/', 'The URL must not contain a user name or password.'],
    ['https://example.com/#fragment', 'The URL must not contain a fragment.'],
    ['https://example.com/#', 'The URL must not contain a fragment.'],
    ['http://example.com/', 'The URL must begin with https://.'],
    ['wss://example.com/', 'The URL must begin with https://.'],
    ['ftp://8.8.8.8/', 'The URL must begin with https://.'],
    ['file:///etc/passwd', 'The URL must begin with https://.'],
    ['ftp://example.com/', 'The URL must begin with https://.'],
    ['gopher://example.com:1024/', 'The URL must begin with https://.'],
    ['javascript:alert(1)', 'The URL must begin with https://.'],
    ['blob:https://example.com/1', 'The URL must begin with https://.'],
    ['//example.com/', INVALID],
    ['nonsense', INVALID],
    ['/hooks', INVALID],
    ['example.com', INVALID],
    ['8.8.8.8/hooks', INVALID],
    ['', INVALID],
    // Characters that the parser would silently drop or rewrite.
    [' ', BAD_CHARACTERS],
    [' https://example.com/', BAD_CHARACTERS],
    ['https://exa mple.com/', BAD_CHARACTERS],
    ['https://example.com/a b', BAD_CHARACTERS],
    ['https://example.com/a\tb', BAD_CHARACTERS],
    ['https://example.com/ ', BAD_CHARACTERS],
    ['https://exam\tple.com/', BAD_CHARACTERS],
    ['ht\ntps://example.com/', BAD_CHARACTERS],
    ['https://example.com/\r\nHost: a', BAD_CHARACTERS],
    ['https://example.com/\0', BAD_CHARACTERS],
    ['https://example.com\\@127.0.0.1/', BAD_CHARACTERS],
    ['https:\\\\example.com', BAD_CHARACTERS],
    // Lengths.
    [`https://example.com/${'a'.repeat(2_029)}`, 'The URL must not be longer than 2048 characters.'],
    [`https://example.com/${'選'.repeat(700)}`, 'The URL must not be longer than 2048 characters.'],
    [`https://example.com/${'é'.repeat(400)}`, 'The URL must not be longer than 2048 characters.'],
    [`https://example.com/${'a'.repeat(1_000_000)}`, 'The URL must not be longer than 2048 characters.'],
  ])('the URL %j is refused', (text, reason) => {
    expect(checkUrl(text)).toEqual({ ok: false, reason });
  });

  it('a URL may contain an address only of an allowed network', () => {
    const allow = parseCidrs('127.0.0.0/8,::1/128');
    const isTaken = (text: string) => checkUrl(text, { allow }).ok;
    expect(['https://127.0.0.1:8443/', 'https://2130706433:8443/', 'https://[::1]:8443/'].every(isTaken)).toBe(true);
    expect(
      ['https://10.0.0.1/', 'https://[::2]/', 'http://127.0.0.1:8443/', 'https://127.0.0.1:22/'].some(isTaken),
    ).toBe(false);
    const one = parseCidrs('127.0.0.1/32');
    for (const other of ['127.0.0.2', '0x7f000002', '0177.0.0.2', '[::127.0.0.2]'])
      expect(checkUrl(`https://${other}/`, { allow: one })).toEqual({ ok: false, reason: NOT_PUBLIC });
    expect(checkUrl('https://2130706433/', { allow: one }).ok).toBe(true);
  });

  it('a URL may contain a name of this machine only if the loopback network is allowed', () => {
    const names = ['https://localhost:8443/', 'https://LOCALHOST/', 'https://api.localhost/'];
    const isTaken = (allow: string) => names.map((text) => checkUrl(text, { allow: parseCidrs(allow) }).ok);
    expect(isTaken('127.0.0.1/32')).toEqual([true, true, true]);
    expect(isTaken('10.0.0.0/8,::1/128')).toEqual([false, false, false]);
    expect(checkUrl('https://localhost./', { allow: parseCidrs('127.0.0.0/8') }).ok).toBe(false);
  });

  it('an accepted URL has a public address or a name as its host', () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.nat(0xffffffff).map(String),
      fc.ipV6().map((text) => `[${text}]`),
      fc.domain(),
      fc.string(),
    );
    fc.assert(
      fc.property(address, fc.webPath(), (host, path) => {
        const checked = checkUrl(`https://${host}${path}`);
        if (!checked.ok) return;
        const hostname = checked.url.hostname.replace(/^\[|\]$/g, '');
        expect(isIP(hostname) === 0 || isPublicAddress(hostname)).toBe(true);
        expect(checkUrl(checked.url.href)).toEqual(checked);
      }),
      { numRuns: 2_000 },
    );
  });
});
