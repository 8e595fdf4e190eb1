package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.regex.Pattern;

/**
 * The text of a failure shown to clients when the message discloses more, such as the names of other programs.
 *
 * @param text shown in place of the message
 */
public record ClientText(String text) implements FailureDetail {

    // Possessive, since other quantifiers recurse for each directory.
    private static final String ROOT = "(?:[a-z]+:)*+/++";
    private static final Pattern QUOTED_PATH = Pattern.compile("'" + ROOT + "(?:[^'/]+/++)*+([^'/]+)'");
    private static final Pattern PATH =
            Pattern.compile("(?<![^\\s(\\[=:\"])" + ROOT + "(?:[^\\s'\"/)\\],;]+/++)++([^\\s'\"/)\\],;]+)");

    /** Begins the places in a program's code, at the end of the message of a failure. */
    private static final String PLACES = "; in @";

    /** Of memory: a client could find the places of code and data. */
    private static final Pattern ADDRESS = Pattern.compile("0x[0-9a-f]{9,16}+(?![0-9a-zA-Z])");

    /**
     * Returns the text of a failure to show to clients.
     *
     * @param failure the failure of a call, or of loading a program
     * @return the failure's message, or the replacement text, with file names but without directories, without
     *     addresses, and without places in programs; for a memory shortage without any place of occurrence, possibly a
     *     nested call of a program unknown to the client
     */
    public static String of(Throwable failure) {
        ClientText text =
                failure instanceof IreeException e ? e.detail(ClientText.class).orElse(null) : null;
        return text == null ? redacted(withoutPlaces(failure)) : text.text();
    }

    /** Returns the message without places. Text about the caller's action, behind the message of the cause, stays. */
    private static String withoutPlaces(Throwable failure) {
        String message = String.valueOf(failure.getMessage());
        if (failure instanceof IreeException e
                && e.getCause() instanceof IreeException cause
                && message.startsWith(cause.getMessage())) {
            String rest = message.substring(cause.getMessage().length());
            boolean isPlace = e.code() == StatusCode.RESOURCE_EXHAUSTED || rest.startsWith(PLACES);
            return withoutPlaces(cause) + (isPlace ? "" : rest);
        }
        int places = message.indexOf(PLACES);
        return places < 0 ? message : message.substring(0, places);
    }

    private static String redacted(String message) {
        String named =
                PATH.matcher(QUOTED_PATH.matcher(message).replaceAll("'$1'")).replaceAll("$1");
        return ADDRESS.matcher(named).replaceAll("an address");
    }
}
