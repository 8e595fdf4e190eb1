package io.github.iree4j.spring.serving;

import java.util.List;
import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty, where tensors of controllers are answers of the application. */
@TestPropertySource(
        properties = {
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration"
        })
class ReactiveSteadyReadersTests extends SteadyReadersTests {
    static List<Kind> charged() {
        return List.of(Kind.BINARY, Kind.JSON);
    }
}
