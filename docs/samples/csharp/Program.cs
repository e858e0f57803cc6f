using System;
using System.Globalization;
using System.IO;
using System.Threading.Tasks;

namespace LaurelSamples
{
    /// <summary>
    /// Runs one sample on the bytes of standard input, with Mono for example:
    ///
    /// mcs -out:samples.exe -r:System.Net.Http.dll -r:System.Runtime.Serialization.dll \
    ///   -r:System.Xml.dll *.cs
    /// mono samples.exe verify-webhook [webhook-id] [webhook-timestamp] [webhook-signature]
    /// mono samples.exe sign-push [id of the integration]
    /// mono samples.exe create-attempt [idempotency key]
    /// </summary>
    public static class Program
    {
        public static int Main(string[] args)
        {
            try
            {
                byte[] output = Run(args, ReadInput()).GetAwaiter().GetResult();
                using (Stream stream = Console.OpenStandardOutput()) stream.Write(output, 0, output.Length);
                return 0;
            }
            catch (Unanswered error)
            {
                Console.Error.WriteLine("unanswered: " + error.Message);
                return 2;
            }
            catch (Exception error) when (error is Refused || error is WebhookRefused)
            {
                Console.Error.WriteLine("refused: " + error.Message);
                return 1;
            }
        }

        private static async Task<byte[]> Run(string[] args, byte[] body)
        {
            string seconds = Environment.GetEnvironmentVariable("LAUREL_DEADLINE_SECONDS");
            TimeSpan limit = seconds == null
                ? Send.Deadline
                : TimeSpan.FromSeconds(double.Parse(seconds, CultureInfo.InvariantCulture));
            string baseUrl = Environment.GetEnvironmentVariable("LAUREL_BASE_URL");
            switch (args[0])
            {
                case "verify-webhook":
                    string[] secrets = Environment.GetEnvironmentVariable("LAUREL_WEBHOOK_SECRETS").Split(' ');
                    VerifyWebhook.Verify(secrets, args[1], args[2], args[3], body);
                    return body;
                case "sign-push":
                    string secret = Environment.GetEnvironmentVariable("LAUREL_INTEGRATION_SECRET");
                    return await SignPush.Push(baseUrl, args[1], secret, body, limit);
                case "create-attempt":
                    string key = Environment.GetEnvironmentVariable("LAUREL_API_KEY");
                    return await CreateAttempt.Create(baseUrl, key, args[1], body, limit);
                default:
                    throw new ArgumentException("there is no sample " + args[0]);
            }
        }

        private static byte[] ReadInput()
        {
            using (Stream input = Console.OpenStandardInput())
            using (var bytes = new MemoryStream())
            {
                input.CopyTo(bytes);
                return bytes.ToArray();
            }
        }
    }
}
