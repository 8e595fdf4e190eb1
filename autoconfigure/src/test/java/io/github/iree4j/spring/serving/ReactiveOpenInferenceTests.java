package io.github.iree4j.spring.serving;

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
class ReactiveOpenInferenceTests extends OpenInferenceTests {}
