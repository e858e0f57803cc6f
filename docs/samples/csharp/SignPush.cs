using System;
using System.Collections.Generic;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

namespace LaurelSamples
{
    public static class SignPush
    {
        /// <summary>
        /// Returns the value of X-Service-Signature for exactly these bytes. The key is the text of
        /// the secret as Laurel showed it, not the bytes that its digits spell.
        /// </summary>
        public static string Sign(string secret, byte[] body)
        {
            using (var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(secret)))
            {
                string digits = BitConverter.ToString(hmac.ComputeHash(body));
                return "sha256=" + digits.Replace("-", "").ToLowerInvariant();
            }
        }

        /// <summary>
        /// Pushes outcomes to an integration of Laurel, signed, and returns Laurel's answer as JSON.
        /// An outcome that has settled stays settled, once.
        /// </summary>
        public static Task<byte[]> Push(
            string baseUrl, string integrationId, string secret, byte[] body, TimeSpan limit)
        {
            string url = baseUrl + "/webhooks/integrations/" + integrationId + "/outcome";
            var headers = new Dictionary<string, string>
            {
                { "X-Service-Signature", Sign(secret, body) },
            };
            return Send.UntilAnswered(url, headers, body, limit);
        }
    }
}
