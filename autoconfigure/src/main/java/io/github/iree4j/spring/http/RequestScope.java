package io.github.iree4j.spring.http;

import org.springframework.http.HttpInputMessage;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/** The request of Spring MVC that the current thread serves. */
final class RequestScope {
    private RequestScope() {}

    /** Whether a message is a request to this server; otherwise it is the response to a client of it. */
    static boolean isServer(HttpInputMessage message) {
        return !(message instanceof ClientHttpResponse) && RequestContextHolder.getRequestAttributes() != null;
    }

    /** Closes a body when the current request has ended, since what was read from it is used until then. */
    static void closeAtEnd(LimitedBody body) {
        RequestContextHolder.currentRequestAttributes()
                .registerDestructionCallback(
                        "iree4j.body-" + System.identityHashCode(body), body::close, RequestAttributes.SCOPE_REQUEST);
    }
}
