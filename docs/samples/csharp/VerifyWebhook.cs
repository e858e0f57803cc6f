using System;
using System.Collections.Generic;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;

namespace LaurelSamples
{
    /// <summary>
    /// The request is not a webhook of Laurel, or not a recent one: answer 400 and do nothing.
    /// </summary>
    public sealed class WebhookRefused : Exception
    {
        public WebhookRefused(string reason) : base(reason) { }
    }

    public static class VerifyWebhook
    {
        private const long ToleranceSeconds = 300;

        /// <summary>
        /// Verifies a webhook of Laurel over the raw bytes of its body, before they are parsed.
        /// Throws WebhookRefused unless one of the secrets signed this delivery within 5 minutes.
        /// </summary>
        /// <param name="secrets">
        /// The endpoint's signing secret, as shown; both while it is replaced.
        /// </param>
        /// <param name="id">The header webhook-id, or null.</param>
        /// <param name="timestamp">The header webhook-timestamp, or null.</param>
        /// <param name="signatures">The header webhook-signature, or null.</param>
        /// <param name="body">The bytes that arrived.</param>
        public static void Verify(
            IReadOnlyCollection<string> secrets,
            string id,
            string timestamp,
            string signatures,
            byte[] body)
        {
            if (secrets.Count == 0) throw new ArgumentException("a signing secret is missing");
            bool isNamed = !string.IsNullOrEmpty(id) && !string.IsNullOrEmpty(timestamp);
            if (!isNamed || string.IsNullOrEmpty(signatures)) throw new WebhookRefused("header_missing");
            byte[] signed = Join(Encoding.UTF8.GetBytes(id + "." + timestamp + "."), body);
            bool isSigned = false;
            foreach (string secret in secrets)
            {
                byte[] key = Convert.FromBase64String(WithoutPrefix(secret));
                using (var hmac = new HMACSHA256(key))
                {
                    string expected = "v1," + Convert.ToBase64String(hmac.ComputeHash(signed));
                    // The header may hold several signatures. Each is compared, in constant time.
                    foreach (string signature in signatures.Split(' '))
                    {
                        isSigned |= IsEqual(expected, signature);
                    }
                }
            }
            if (!isSigned) throw new WebhookRefused("signature_mismatch");
            // The time of this try, which is signed: a request that was captured is useless later.
            long now = DateTimeOffset.UtcNow.ToUnixTimeSeconds();
            var culture = CultureInfo.InvariantCulture;
            bool isNumber = long.TryParse(timestamp, NumberStyles.None, culture, out long sentAt);
            if (!isNumber || sentAt < now - ToleranceSeconds || sentAt > now + ToleranceSeconds)
            {
                throw new WebhookRefused("timestamp_out_of_tolerance");
            }
        }

        private static string WithoutPrefix(string secret)
        {
            const string prefix = "whsec_";
            bool isPrefixed = secret.StartsWith(prefix, StringComparison.Ordinal);
            return isPrefixed ? secret.Substring(prefix.Length) : secret;
        }

        private static byte[] Join(byte[] first, byte[] second)
        {
            var joined = new byte[first.Length + second.Length];
            first.CopyTo(joined, 0);
            second.CopyTo(joined, first.Length);
            return joined;
        }

        private static bool IsEqual(string expected, string given)
        {
            byte[] bytes = Encoding.UTF8.GetBytes(given);
            return CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(expected), bytes);
        }
    }
}
