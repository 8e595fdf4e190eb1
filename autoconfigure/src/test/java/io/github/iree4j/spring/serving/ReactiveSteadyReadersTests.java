package io.github.iree4j.spring.serving;

import org.junit.jupiter.api.Tag;
import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty; more than a minute of real time, as over servlets. */
@Tag("nightly")
@TestPropertySource(
        properties = {
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration"
        })
class ReactiveSteadyReadersTests extends SteadyReadersTests {}
