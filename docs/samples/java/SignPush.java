import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Pushes outcomes to an integration of Laurel, signed. */
public final class SignPush {
  private SignPush() {}

  /**
   * Returns the value of X-Service-Signature for exactly these bytes. The key is the text of the
   * secret as Laurel showed it, not the bytes that its digits spell.
   */
  public static String signPush(String secret, byte[] body) throws GeneralSecurityException {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    StringBuilder signature = new StringBuilder("sha256=");
    for (byte one : mac.doFinal(body)) signature.append(String.format("%02x", one));
    return signature.toString();
  }

  /** Returns Laurel's answer as JSON text. An outcome that has settled stays settled, once. */
  public static String pushOutcomes(
      String baseUrl, String integrationId, String secret, byte[] body, Duration limit)
      throws GeneralSecurityException, Send.Refused, Send.Unanswered, InterruptedException {
    String url = baseUrl + "/webhooks/integrations/" + integrationId + "/outcome";
    Map<String, String> headers = Map.of("X-Service-Signature", signPush(secret, body));
    return Send.untilAnswered(url, headers, body, limit);
  }
}
