package io.github.iree4j.spring.ai.openai;

import io.github.iree4j.spring.serving.FormRefusal;
import io.github.iree4j.spring.serving.ProtocolErrors;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import tools.jackson.databind.json.JsonMapper;

/** Answers in the interface's form, where no controller is asked. */
public final class OpenAiErrors {

    /** Servlet patterns for the paths of the interface. */
    public static final List<String> PATHS =
            List.of("/v1/chat/*", "/v1/completions", "/v1/embeddings", "/v1/models", "/v1/models/*");

    private OpenAiErrors() {}

    /**
     * Returns a filter for {@link #PATHS} that refuses forms, which the container would read before any controller.
     *
     * @return the filter
     */
    public static FormRefusal formRefusal() {
        OpenAiFailure refusal = new OpenAiFailure(HttpStatus.UNSUPPORTED_MEDIA_TYPE, OpenAiInterface.FORM);
        return new FormRefusal(
                MediaType.APPLICATION_JSON_VALUE, JsonMapper.shared().writeValueAsString(refusal.json()));
    }

    /**
     * Returns a filter for error dispatches.
     *
     * @param paths {@link #PATHS} below the application's path of controllers
     * @return the filter
     */
    public static ProtocolErrors filter(List<String> paths) {
        return new ProtocolErrors(paths, OpenAiErrors::body);
    }

    /**
     * Returns the body of the answer to a request that Netty cannot decode.
     *
     * @param description the reason
     * @return the body
     */
    public static byte[] undecodable(String description) {
        return body(HttpStatus.BAD_REQUEST.value(), description);
    }

    private static byte[] body(int status, String description) {
        return JsonMapper.shared().writeValueAsBytes(new OpenAiFailure(status, 0, description, null, null).json());
    }
}
