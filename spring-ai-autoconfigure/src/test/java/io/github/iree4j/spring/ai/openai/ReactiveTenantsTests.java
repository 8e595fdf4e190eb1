package io.github.iree4j.spring.ai.openai;

import org.springframework.test.context.TestPropertySource;

/** The same over WebFlux and Netty. */
@TestPropertySource(
        properties = {
            "iree.openai.tenant=principal",
            "spring.main.web-application-type=reactive",
            "spring.autoconfigure.exclude=org.springframework.boot.tomcat.autoconfigure.reactive.TomcatReactiveWebServerAutoConfiguration"
        })
class ReactiveTenantsTests extends TenantsTests {}
