<?php

// Verifies a webhook of Laurel over the raw bytes of its body, before anything parses them.

declare(strict_types=1);

namespace Laurel;

const TOLERANCE_S = 300;

/** The request is not a webhook of Laurel, or not a recent one: answer 400 and do nothing. */
final class WebhookRefused extends \RuntimeException
{
}

/**
 * Throws WebhookRefused unless one of the secrets signed this delivery within five minutes.
 *
 * `$secrets` are the endpoint's signing secret, as shown; both while it is replaced.
 * `$id`, `$timestamp` and `$signatures` are the headers webhook-id, webhook-timestamp and
 * webhook-signature, or null. `$body` is the bytes that arrived.
 */
function verifyWebhook(array $secrets, ?string $id, ?string $timestamp, ?string $signatures, string $body): void
{
    if ($secrets === []) {
        throw new \InvalidArgumentException('a signing secret is missing');
    }
    if ((string) $id === '' || (string) $timestamp === '' || (string) $signatures === '') {
        throw new WebhookRefused('header_missing');
    }
    $isSigned = false;
    foreach ($secrets as $secret) {
        $key = base64_decode(preg_replace('/^whsec_/', '', $secret), true);
        if ($key === false) {
            throw new \InvalidArgumentException('a signing secret is not as Laurel showed it');
        }
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        // The header may hold several signatures. Each is compared, in constant time.
        foreach (explode(' ', $signatures) as $signature) {
            $isSigned = hash_equals($expected, $signature) || $isSigned;
        }
    }
    if (!$isSigned) {
        throw new WebhookRefused('signature_mismatch');
    }
    // The time of this try, which is signed: a request that was captured is useless later.
    $isRecent = preg_match('/\A\d{1,12}\z/', $timestamp) === 1 && abs(time() - (int) $timestamp) <= TOLERANCE_S;
    if (!$isRecent) {
        throw new WebhookRefused('timestamp_out_of_tolerance');
    }
}
