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

/** Keeps web servers from waiting, each for a whole shutdown phase, for requests that cannot be stopped. */
final class StoppingServers {

    /** Tomcat waits 20 times for a part of this delay, and forever for a delay of 0. */
    private static final long UNLOAD_MILLIS = 100;

    private StoppingServers() {}

    /** Configuration for web servers of all kinds. */
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
                    server.stop(); // ends the server's graceful shutdown
                }
            };
        }
    }

    /** Configuration for Tomcat, which waits for threads, and then for servlets, with separate time limits. */
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
                        servlets.setUnloadDelay(UNLOAD_MILLIS); // threads have ended or used up their time
                    }
                });
            };
        }
    }
}
