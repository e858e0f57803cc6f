<?php

// Creates an attempt and charges its fee exactly once, over a network that loses answers.

declare(strict_types=1);

namespace Laurel;

require_once __DIR__ . '/send.php';

/**
 * Returns the attempt as JSON text. `$body` is the request as JSON text.
 *
 * `$idempotencyKey` belongs to one game start. Choose it and store it with the match before the
 * first call. Call again with the same key and body after `Unanswered` or a crash, and within 24
 * hours: a new key, or one that is older, would charge the player again.
 */
function createAttempt(
    string $baseUrl,
    string $apiKey,
    string $idempotencyKey,
    string $body,
    float $deadlineS = DEADLINE_S,
): string {
    $headers = ["X-API-Key: $apiKey", "Idempotency-Key: $idempotencyKey"];
    return sendUntilAnswered("$baseUrl/v1/attempts", $headers, $body, $deadlineS);
}
