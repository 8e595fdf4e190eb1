package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.status.FailureDetail;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import org.jspecify.annotations.Nullable;

/**
 * A fault of a request, in the words of the interface.
 *
 * @param text the description for the client
 * @param parameter the parameter at fault, such as {@code messages[2].role}; null for none
 * @param code the code for programs; null for none
 */
record RequestFault(
        String text, @Nullable String parameter, @Nullable String code) implements FailureDetail {

    /** Maximum length of a text of the client in a message. */
    private static final int SHOWN = 64;

    /** Returns the failure of a request with a bad parameter. */
    static IreeException invalid(@Nullable String parameter, String text) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, text, null, new RequestFault(text, parameter, null));
    }

    /** Returns the failure of a request for something that is not there. */
    static IreeException notFound(@Nullable String parameter, @Nullable String code, String text) {
        return IreeException.of(StatusCode.NOT_FOUND, text, null, new RequestFault(text, parameter, code));
    }

    /** Truncates a text of the client. */
    static String shortened(String text) {
        return text.length() <= SHOWN ? text : text.substring(0, SHOWN) + "...";
    }
}
