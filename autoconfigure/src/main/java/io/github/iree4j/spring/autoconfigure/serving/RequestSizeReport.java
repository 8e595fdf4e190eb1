package io.github.iree4j.spring.autoconfigure.serving;

import io.github.iree4j.spring.autoconfigure.http.IreeHttpProperties;
import io.github.iree4j.spring.http.BodyLimits;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.core.env.Environment;

/** Logs the maximum size of requests: two limits apply. One limit, unless set, is a share of the heap. */
final class RequestSizeReport implements SmartInitializingSingleton {

    private static final Logger log = LoggerFactory.getLogger(RequestSizeReport.class);

    private static final String BODY = BodyLimits.SIZE;
    private static final String MEMORY = "iree.http.max-in-flight-size";

    private final long body;
    private final BodyLimits limits;
    private final Environment environment;

    RequestSizeReport(IreeHttpProperties properties, BodyLimits limits, Environment environment) {
        this.body = properties.maxRequestSize().toBytes();
        this.limits = limits;
        this.environment = environment;
    }

    @Override
    public void afterSingletonsInstantiated() {
        long memory = limits.maximumOfRequest();
        if (memory >= body) {
            log.info("requests of the open inference protocol have at most {} bytes, by '{}'", body, BODY);
            return;
        }
        log.atLevel(environment.containsProperty(BODY) ? Level.WARN : Level.INFO)
                .log(
                        "requests of the open inference protocol take at most {} bytes of memory, which is less than the {} of '{}': three quarters of the {} allowed by '{}'{}; raise '{}'",
                        memory,
                        body,
                        BODY,
                        limits.maximumInFlight(),
                        MEMORY,
                        environment.containsProperty(MEMORY) ? "" : ", a quarter of the heap",
                        MEMORY);
    }
}
