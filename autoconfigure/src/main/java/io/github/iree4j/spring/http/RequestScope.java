package io.github.iree4j.spring.http;

import org.springframework.http.HttpInputMessage;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** The Spring MVC request served by the current thread. */
final class RequestScope {
    private RequestScope() {}

    /** Returns whether a message is a request to this server; otherwise the message is the response to an HTTP client of this application. */
    static boolean isServer(HttpInputMessage message) {
        return !(message instanceof ClientHttpResponse) && RequestContextHolder.getRequestAttributes() != null;
    }

    /** Closes a body when the current request has ended, since data read from the body is used until then. */
    static void closeAtEnd(LimitedBody body) {
        RequestContextHolder.currentRequestAttributes()
                .registerDestructionCallback(
                        "iree4j.body-" + System.identityHashCode(body), body::close, RequestAttributes.SCOPE_REQUEST);
    }
}
