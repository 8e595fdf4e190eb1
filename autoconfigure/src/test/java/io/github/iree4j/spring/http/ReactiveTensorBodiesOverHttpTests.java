package io.github.iree4j.spring.http;

import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty. */
@TestPropertySource(
        properties = {
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration"
        })
@EnabledIf(
        value = "io.github.iree4j.spring.TestModules#fixturesPresent",
        disabledReason = "the compiled fixtures are not there (../shared/vmfb beside the repository)")
class ReactiveTensorBodiesOverHttpTests extends TensorBodiesOverHttpTests {}
