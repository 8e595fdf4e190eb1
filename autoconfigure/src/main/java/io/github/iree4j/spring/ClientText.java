package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.regex.Pattern;

/**
 * What clients may read of a failure whose message tells more, such as the names of other programs.
 *
 * @param text in place of the message
 */
public record ClientText(String text) implements FailureDetail {

    // Possessive, since others recurse for each directory.
    private static final String ROOT = "(?:[a-z]+:)*+/++";
    private static final Pattern QUOTED_PATH = Pattern.compile("'" + ROOT + "(?:[^'/]+/++)*+([^'/]+)'");
    private static final Pattern PATH =
            Pattern.compile("(?<![^\\s(\\[=:\"])" + ROOT + "(?:[^\\s'\"/)\\],;]+/++)++([^\\s'\"/)\\],;]+)");

    /**
     * Returns what clients may read of a failure.
     *
     * @param failure the failure of a call, or of loading a program
     * @return its message, or the text in place of it, with the names of files and without their directories; of a shortage of memory
     *     without where it occurred, which may be in a call that the client's call has made, of a program that the client does not know
     */
    public static String of(Throwable failure) {
        ClientText text = failure instanceof IreeException e ? e.detail(ClientText.class) : null;
        return text == null
                ? withoutDirectories(String.valueOf(withoutPlaces(failure).getMessage()))
                : text.text();
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

    private static String withoutDirectories(String message) {
        return PATH.matcher(QUOTED_PATH.matcher(message).replaceAll("'$1'")).replaceAll("$1");
    }
}
