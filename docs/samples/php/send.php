<?php

// Sends a request to Laurel until it is answered. Every try sends the same bytes and headers.
// Only for requests that take effect once however often they arrive: those with an
// Idempotency-Key, and pushed outcomes.

declare(strict_types=1);

namespace Laurel;

const TRY_TIMEOUT_S = 10;
// Longer than the 60 seconds for which a request that died keeps its key in progress.
const DEADLINE_S = 120.0;
const FIRST_DELAY_S = 0.25;
const LONGEST_DELAY_S = 8.0;

/** Laurel refused the request and nothing was charged. The same request is refused again. */
final class Refused extends \RuntimeException
{
    public function __construct(public readonly int $status, public readonly string $errorCode)
    {
        parent::__construct("$status $errorCode");
    }
}

/** Laurel may have acted. Send the same request again later, with the same key. */
final class Unanswered extends \RuntimeException
{
}

/** Returns the body of a success; a replayed answer is one. `$headers` are lines, `Name: value`. */
function sendUntilAnswered(string $url, array $headers, string $body, float $deadlineS = DEADLINE_S): string
{
    foreach ($headers as $line) {
        if (preg_match('/[\r\n\0]/', $line)) {
            throw new \InvalidArgumentException('a header has a line break');
        }
    }
    $deadline = hrtime(true) / 1e9 + $deadlineS;
    $longestDelay = FIRST_DELAY_S;
    while (true) {
        $retryAfter = 0;
        $answer = post($url, $headers, $body);
        if ($answer === null) {
            $failure = 'no answer';
        } else {
            [$status, $answerHeaders, $text] = $answer;
            if ($status >= 200 && $status < 300) {
                return $text;
            }
            $code = codeOf($text);
            if (!isRepeated($status, $code)) {
                throw new Refused($status, $code);
            }
            $failure = "$status $code";
            $retryAfter = (int) ($answerHeaders['retry-after'] ?? 0);
        }
        // Jitter keeps servers that failed together from returning together.
        $delay = $retryAfter + random_int(0, 1_000_000) / 1e6 * $longestDelay;
        if (hrtime(true) / 1e9 + $delay >= $deadline) {
            throw new Unanswered($failure);
        }
        usleep((int) ($delay * 1e6));
        $longestDelay = min(LONGEST_DELAY_S, 2 * $longestDelay);
    }
}

/** One try: status, headers and body, or null if there was no whole answer. It follows no redirect. */
function post(string $url, array $headers, string $body): ?array
{
    $context = stream_context_create(['http' => [
        'method' => 'POST',
        'protocol_version' => '1.1',
        'header' => ['Content-Type: application/json', 'Connection: close', ...$headers],
        'content' => $body,
        'timeout' => TRY_TIMEOUT_S,
        'follow_location' => 0,
        'ignore_errors' => true,
    ]]);
    $stream = @fopen($url, 'rb', false, $context);
    if ($stream === false) {
        return null;
    }
    $text = (string) stream_get_contents($stream);
    $metadata = stream_get_meta_data($stream);
    fclose($stream);
    [$statusLine, $named] = headersOf($metadata['wrapper_data']);
    $status = preg_match('{^HTTP/\S+ (\d{3})}', $statusLine, $found) === 1 ? (int) $found[1] : 0;
    // PHP returns what it has read where a connection ends too early.
    $length = $named['content-length'] ?? null;
    $isShort = $length === null ? $status < 300 && json_decode($text) === null : strlen($text) !== (int) $length;
    return $isShort || $metadata['timed_out'] ? null : [$status, $named, $text];
}

function headersOf(array $lines): array
{
    $named = [];
    foreach (array_slice($lines, 1) as $line) {
        [$name, $value] = explode(':', $line, 2) + [1 => ''];
        $named[strtolower($name)] = trim($value);
    }
    return [$lines[0] ?? '', $named];
}

function isRepeated(int $status, string $code): bool
{
    return $status === 429 || $status >= 500 || ($status === 409 && $code === 'idempotency_in_progress');
}

/** The `error.code` of a refusal. The 429 has a body of another shape, and a proxy has none. */
function codeOf(string $text): string
{
    $answer = json_decode($text, true);
    return is_array($answer) && is_array($answer['error'] ?? null) ? (string) ($answer['error']['code'] ?? '') : '';
}
