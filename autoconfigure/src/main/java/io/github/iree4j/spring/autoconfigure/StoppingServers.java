package io.github.iree4j.spring.autoconfigure;

import org.apache.catalina.core.StandardContext;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Web servers do not wait for requests that cannot be stopped, each for a phase of its own. */
final class StoppingServers {

    /** Tomcat waits 20 times for a part of it, and forever for none. */
    private static final long UNLOAD_MILLIS = 100;

    private StoppingServers() {}

    /** Of all kinds. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebServerApplicationContext.class)
    @ConditionalOnWebApplication
    static class WebConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeWebServerStop")
        ApplicationListener<StopOverdueEvent> ireeWebServerStop(ApplicationContext context) {
            return _ -> {
                WebServer server = context instanceof WebServerApplicationContext web ? web.getWebServer() : null;
                if (server != null) {
                    server.stop(); // ends its graceful shutdown
                }
            };
        }
    }

    /** Tomcat waits for threads, and then for servlets, for times of its own. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConfigurableTomcatWebServerFactory.class, StandardContext.class})
    @ConditionalOnWebApplication
    static class TomcatConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeTomcatStop")
        WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> ireeTomcatStop(Environment environment) {
            long millis = StopTimes.of(environment).cancelling().toMillis();
            return factory -> {
                factory.addConnectorCustomizers(
                        connector -> connector.setProperty("executorTerminationTimeoutMillis", Long.toString(millis)));
                factory.addContextCustomizers(context -> {
                    if (context instanceof StandardContext servlets) {
                        servlets.setUnloadDelay(UNLOAD_MILLIS); // threads have been waited for
                    }
                });
            };
        }
    }
}
