<?php

// Pushes outcomes to an integration of Laurel, signed.

declare(strict_types=1);

namespace Laurel;

require_once __DIR__ . '/send.php';

/**
 * Returns the value of X-Service-Signature for exactly these bytes. The key is the text of the
 * secret as Laurel showed it, not the bytes that its digits spell.
 */
function signPush(string $secret, string $body): string
{
    return 'sha256=' . hash_hmac('sha256', $body, $secret);
}

/** Returns Laurel's answer as JSON text. An outcome that has settled stays settled, once. */
function pushOutcomes(
    string $baseUrl,
    string $integrationId,
    string $secret,
    string $body,
    float $deadlineS = DEADLINE_S,
): string {
    $url = "$baseUrl/webhooks/integrations/$integrationId/outcome";
    return sendUntilAnswered($url, ['X-Service-Signature: ' . signPush($secret, $body)], $body, $deadlineS);
}
