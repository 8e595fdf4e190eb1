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

    /** Of memory: a client could find the places of code and data. */
    private static final Pattern ADDRESS = Pattern.compile("0x[0-9a-f]{9,16}+(?![0-9a-zA-Z])");

    /**
     * Returns the text of a failure to show to clients.
     *
     * @param failure the failure of a call, or of loading a program
     * @return the failure's message, or the replacement text, with file names but without directories, and without
     *     addresses; for a memory shortage without the place of occurrence, possibly a nested call of a program unknown
     *     to the client
     */
    public static String of(Throwable failure) {
        ClientText text = failure instanceof IreeException e ? e.detail(ClientText.class) : null;
        return text == null ? redacted(String.valueOf(withoutPlaces(failure).getMessage())) : text.text();
    }

    private static Throwable withoutPlaces(Throwable failure) {
        Throwable inner = failure;
        while (inner instanceof IreeException e
                && e.code() == StatusCode.RESOURCE_EXHAUSTED
                && e.getCause() instanceof IreeException cause
                && e.getMessage().startsWith(cause.getMessage())) {
            inner = cause;
        }
        return inner;
    }

    private static String redacted(String message) {
        String named =
                PATH.matcher(QUOTED_PATH.matcher(message).replaceAll("'$1'")).replaceAll("$1");
        return ADDRESS.matcher(named).replaceAll("an address");
    }
}
