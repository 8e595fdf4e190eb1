package io.github.iree4j.spring.serving;

import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty. */
@TestPropertySource(
        properties = {
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration"
        })
class ReactiveHostileBodiesTests extends HostileBodiesTests {
    @Override
    boolean refusedConnectionsAreEnded() {
        return false; // without a thread
    }
}
