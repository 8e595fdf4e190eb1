package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.ClientText;
import io.github.iree4j.spring.ProgramLoadException;
import io.github.iree4j.status.IreeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Renders failures of calls, and refusals of bodies with tensors, as problem details (RFC 9457): the status indicates
 * the recommended reaction of the client, member {@code code} is the status code of the runtime. Internal failures are
 * logged and not disclosed: responses with status 500 have no detail. Covers all controllers but no other exceptions,
 * and is present only if the application enables problem details.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
@NotForApplications
public final class IreeProblemAdvice {

    private static final Logger log = LoggerFactory.getLogger(IreeProblemAdvice.class);

    /** Creates the advice. */
    public IreeProblemAdvice() {}

    @ExceptionHandler
    ResponseEntity<ProblemDetail> failed(IreeException failure) {
        HttpStatus status = HttpStatuses.of(failure);
        ProblemDetail problem = ProblemDetail.forStatus(status);
        problem.setTitle("Call failed");
        problem.setProperty("code", failure.code().name());
        if (status == HttpStatus.INTERNAL_SERVER_ERROR) {
            log.error("call failed", failure);
        } else {
            problem.setDetail(ClientText.of(failure));
        }
        HttpHeaders headers = new HttpHeaders();
        long later = HttpStatuses.retryAfter(failure);
        if (later > 0) {
            headers.set(HttpHeaders.RETRY_AFTER, String.valueOf(later));
        }
        return new ResponseEntity<>(problem, headers, status);
    }

    @ExceptionHandler
    ProblemDetail notLoaded(ProgramLoadException failure) {
        log.error("program '{}' could not be loaded", failure.source().name(), failure);
        ProblemDetail problem = ProblemDetail.forStatus(HttpStatus.SERVICE_UNAVAILABLE);
        problem.setTitle("Program not loaded");
        problem.setDetail(ClientText.of(failure));
        if (failure.getCause() instanceof IreeException cause) {
            problem.setProperty("code", cause.code().name());
        }
        return problem;
    }

    @ExceptionHandler
    ResponseEntity<ProblemDetail> refused(RefusedBody refusal) {
        return new ResponseEntity<>(refusal.getBody(), refusal.getHeaders(), refusal.getStatusCode());
    }
}
