package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.springframework.util.StringUtils;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.StreamConstraintsException;

/** Reads bodies that are JSON in UTF-8, and says why a body is refused. */
@NotForApplications
public final class JsonBody {
    private JsonBody() {}

    /**
     * Returns the characters of a body, for Jackson's parsers. A parser without a cache of names that is given bytes
     * replaces malformed bytes; with this reader the parser fails. A byte order mark is not removed.
     *
     * @param body the bytes; closed with the reader only
     * @return fails with a {@link CharacterCodingException} at bytes that are not UTF-8
     */
    public static Reader reader(InputStream body) {
        return new InputStreamReader(body, StandardCharsets.UTF_8.newDecoder());
    }

    /**
     * Returns why a body is refused, for the client.
     *
     * @param failure the failure of the parser
     * @param otherwise the reason, unless the body is not UTF-8 or exceeds a limit of the parser
     * @return the reason, with line and column where known
     */
    public static String problem(JacksonException failure, String otherwise) {
        if (failure.getCause() instanceof CharacterCodingException) {
            return "the body is not UTF-8";
        }
        String problem = failure instanceof StreamConstraintsException
                ? "the JSON of the body exceeds a limit: " + limit(failure.getOriginalMessage())
                : otherwise;
        return failure.getLocation() == null || failure.getLocation().getLineNr() < 0
                ? problem
                : "%s (line %d, column %d)"
                        .formatted(
                                problem,
                                failure.getLocation().getLineNr(),
                                failure.getLocation().getColumnNr());
    }

    /** Returns Jackson's message about a limit, without the name of the method setting the limit. */
    private static String limit(String message) {
        return StringUtils.uncapitalize(message.replaceAll(",? from `[^`]*`", ""));
    }
}
