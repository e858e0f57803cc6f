import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Runs one sample on the bytes of standard input.
 *
 * <pre>
 * javac -d classes *.java
 * java -cp classes Main verify-webhook [webhook-id] [webhook-timestamp] [webhook-signature]
 * java -cp classes Main sign-push [id of the integration]
 * java -cp classes Main create-attempt [idempotency key]
 * </pre>
 */
public final class Main {
  private Main() {}

  public static void main(String[] args) throws Exception {
    try {
      System.out.write(run(args, System.in.readAllBytes()));
      System.out.flush();
    } catch (Send.Refused | VerifyWebhook.WebhookRefused error) {
      System.err.println("refused: " + error.getMessage());
      System.exit(1);
    } catch (Send.Unanswered error) {
      System.err.println("unanswered: " + error.getMessage());
      System.exit(2);
    }
  }

  private static byte[] run(String[] args, byte[] body) throws Exception {
    String seconds = System.getenv("LAUREL_DEADLINE_SECONDS");
    Duration limit = Send.DEADLINE;
    if (seconds != null) limit = Duration.ofMillis((long) (1_000 * Double.parseDouble(seconds)));
    String baseUrl = System.getenv("LAUREL_BASE_URL");
    switch (args[0]) {
      case "verify-webhook":
        List<String> secrets = List.of(System.getenv("LAUREL_WEBHOOK_SECRETS").split(" "));
        VerifyWebhook.verifyWebhook(secrets, args[1], args[2], args[3], body);
        return body;
      case "sign-push":
        String secret = System.getenv("LAUREL_INTEGRATION_SECRET");
        return bytesOf(SignPush.pushOutcomes(baseUrl, args[1], secret, body, limit));
      case "create-attempt":
        String key = System.getenv("LAUREL_API_KEY");
        String request = new String(body, StandardCharsets.UTF_8);
        return bytesOf(CreateAttempt.createAttempt(baseUrl, key, args[1], request, limit));
      default:
        throw new IllegalArgumentException("there is no sample " + args[0]);
    }
  }

  private static byte[] bytesOf(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
