package io.github.iree4j.spring.http;

import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty. */
@TestPropertySource(
        properties = {
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration,"
                    + "org.springframework.boot.tomcat.autoconfigure.actuate.web.server.TomcatReactiveManagementContextAutoConfiguration"
        })
class ReactiveManagementPortTests extends ManagementPortTests {}
