using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace LaurelSamples
{
    public static class CreateAttempt
    {
        /// <summary>
        /// Creates an attempt and charges its fee exactly once, over a network that loses answers.
        /// Returns the attempt as JSON; body is the request as JSON.
        /// </summary>
        /// <param name="idempotencyKey">
        /// Belongs to one game start. Choose it and store it with the match before the first call.
        /// Call again with the same key and body after Unanswered or a crash, and within 24 hours: a
        /// new key, or one that is older, would charge the player again.
        /// </param>
        public static Task<byte[]> Create(
            string baseUrl, string apiKey, string idempotencyKey, byte[] body, TimeSpan limit)
        {
            var headers = new Dictionary<string, string>
            {
                { "X-API-Key", apiKey },
                { "Idempotency-Key", idempotencyKey },
            };
            return Send.UntilAnswered(baseUrl + "/v1/attempts", headers, body, limit);
        }
    }
}
