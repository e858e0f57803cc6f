import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies a webhook of Laurel over the raw bytes of its body, before anything parses them. */
public final class VerifyWebhook {
  private static final long TOLERANCE_S = 300;

  private VerifyWebhook() {}

  /** The request is not a webhook of Laurel, or not a recent one: answer 400 and do nothing. */
  public static final class WebhookRefused extends Exception {
    WebhookRefused(String reason) {
      super(reason);
    }
  }

  /**
   * Throws WebhookRefused unless one of the secrets signed this delivery within five minutes.
   *
   * @param secrets the endpoint's signing secret, as shown; both while it is replaced
   * @param id the header webhook-id, or null
   * @param timestamp the header webhook-timestamp, or null
   * @param signatures the header webhook-signature, or null
   * @param body the bytes that arrived
   */
  public static void verifyWebhook(
      List<String> secrets, String id, String timestamp, String signatures, byte[] body)
      throws WebhookRefused, GeneralSecurityException {
    if (secrets.isEmpty()) throw new IllegalArgumentException("a signing secret is missing");
    if (isMissing(id) || isMissing(timestamp) || isMissing(signatures)) {
      throw new WebhookRefused("header_missing");
    }
    boolean isSigned = false;
    for (String secret : secrets) {
      byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
      String expected = "v1," + Base64.getEncoder().encodeToString(mac.doFinal(body));
      // The header may hold several signatures. Each is compared, in constant time.
      for (String signature : signatures.split(" ")) {
        isSigned |= MessageDigest.isEqual(bytesOf(expected), bytesOf(signature));
      }
    }
    if (!isSigned) throw new WebhookRefused("signature_mismatch");
    // The time of this try, which is signed: a request that was captured is useless later.
    boolean isRecent =
        timestamp.matches("\\d{1,12}")
            && Math.abs(System.currentTimeMillis() / 1_000 - Long.parseLong(timestamp))
                <= TOLERANCE_S;
    if (!isRecent) throw new WebhookRefused("timestamp_out_of_tolerance");
  }

  private static boolean isMissing(String header) {
    return header == null || header.isEmpty();
  }

  private static byte[] bytesOf(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
