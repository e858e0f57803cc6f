using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Runtime.Serialization.Json;
using System.Threading.Tasks;
using System.Xml;

namespace LaurelSamples
{
    /// <summary>
    /// Laurel refused the request and nothing was charged. The same request is refused again.
    /// </summary>
    public sealed class Refused : Exception
    {
        public Refused(int status, string code) : base(status + " " + code)
        {
            Status = status;
            Code = code;
        }

        public int Status { get; }
        public string Code { get; }
    }

    /// <summary>Laurel may have acted. Send the same request again later, with the same key.</summary>
    public sealed class Unanswered : Exception
    {
        public Unanswered(string last) : base(last) { }
    }

    /// <summary>
    /// Sends a request to Laurel until it is answered. Every try sends the same bytes and headers.
    /// Only for requests that take effect once however often they arrive: those with an
    /// Idempotency-Key, and pushed outcomes.
    /// </summary>
    public static class Send
    {
        /// <summary>
        /// Longer than the 60 seconds for which a request that died keeps its key in progress.
        /// </summary>
        public static readonly TimeSpan Deadline = TimeSpan.FromSeconds(120);

        private static readonly TimeSpan TryTimeout = TimeSpan.FromSeconds(10);
        private const double FirstDelaySeconds = 0.25;
        private const double LongestDelaySeconds = 8;

        /// <summary>A redirect is no answer of Laurel's, so none is followed.</summary>
        private static readonly HttpClient Client =
            new HttpClient(new HttpClientHandler { AllowAutoRedirect = false })
            {
                Timeout = TryTimeout,
            };

        private static readonly Random Chance = new Random(Guid.NewGuid().GetHashCode());

        /// <summary>Returns the body of a success; a replayed answer is one.</summary>
        public static async Task<byte[]> UntilAnswered(
            string url, IDictionary<string, string> headers, byte[] body, TimeSpan limit)
        {
            var clock = Stopwatch.StartNew();
            double longestDelay = FirstDelaySeconds;
            while (true)
            {
                string failure;
                var retryAfter = TimeSpan.Zero;
                try
                {
                    using (var response = await Post(url, headers, body))
                    {
                        byte[] read = await response.Content.ReadAsByteArrayAsync();
                        byte[] answer = Whole(response, read);
                        int status = (int)response.StatusCode;
                        if (status >= 200 && status < 300) return answer;
                        string code = CodeOf(answer);
                        if (!IsRepeated(status, code)) throw new Refused(status, code);
                        failure = status + " " + code;
                        retryAfter = response.Headers.RetryAfter?.Delta ?? TimeSpan.Zero;
                    }
                }
                catch (Exception error) when (IsNoAnswer(error))
                {
                    failure = error.Message;
                }
                // Jitter keeps servers that failed together from returning together.
                TimeSpan delay = retryAfter + TimeSpan.FromSeconds(NextChance() * longestDelay);
                if (clock.Elapsed + delay >= limit) throw new Unanswered(failure);
                await Task.Delay(delay);
                longestDelay = Math.Min(LongestDelaySeconds, 2 * longestDelay);
            }
        }

        private static async Task<HttpResponseMessage> Post(
            string url, IDictionary<string, string> headers, byte[] body)
        {
            using (var request = new HttpRequestMessage(HttpMethod.Post, url))
            {
                request.Content = new ByteArrayContent(body);
                request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
                request.Headers.ExpectContinue = false;
                foreach (var header in headers) request.Headers.Add(header.Key, header.Value);
                return await Client.SendAsync(request);
            }
        }

        /// <summary>
        /// An answer that ended too early is none. Some versions of .NET do not notice it.
        /// </summary>
        private static byte[] Whole(HttpResponseMessage response, byte[] answer)
        {
            long? length = response.Content.Headers.ContentLength;
            bool isWhole = length == null || length == answer.Length;
            return isWhole ? answer : throw new IOException("the answer is not whole");
        }

        private static bool IsNoAnswer(Exception error)
        {
            // A try that timed out is cancelled.
            return error is HttpRequestException
                || error is IOException
                || error is OperationCanceledException;
        }

        private static bool IsRepeated(int status, string code)
        {
            bool isInProgress = status == 409 && code == "idempotency_in_progress";
            return status == 429 || status >= 500 || isInProgress;
        }

        /// <summary>
        /// The error.code of a refusal. The 429 has a body of another shape, and a proxy has none.
        /// </summary>
        private static string CodeOf(byte[] answer)
        {
            try
            {
                var quotas = XmlDictionaryReaderQuotas.Max;
                var document = new XmlDocument();
                document.Load(JsonReaderWriterFactory.CreateJsonReader(answer, quotas));
                return document.SelectSingleNode("/root/error/code")?.InnerText ?? "";
            }
            catch (XmlException)
            {
                return "";
            }
        }

        private static double NextChance()
        {
            lock (Chance) return Chance.NextDouble();
        }
    }
}
