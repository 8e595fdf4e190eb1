package io.github.iree4j.spring;

import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;

/**
 * What clients may read of a failure whose message tells more, such as the names of other programs.
 *
 * @param text in place of the message
 */
public record ClientText(String text) implements FailureDetail {

    /**
     * Returns what clients may read of a failure.
     *
     * @param failure the failure of a call
     * @return its message, or the text in place of it
     */
    public static String of(IreeException failure) {
        ClientText text = failure.detail(ClientText.class);
        return text == null ? failure.getMessage() : text.text();
    }
}
