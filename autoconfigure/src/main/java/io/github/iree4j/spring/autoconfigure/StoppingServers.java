package io.github.iree4j.spring.autoconfigure;

import org.apache.catalina.core.StandardContext;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServer;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
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
            return _ -> end(context);
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
            return limits(environment);
        }
    }

    /** Configuration for the web server of Actuator, with a separate context and lifecycle. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(IreeStopping.class)
    @ConditionalOnClass(WebServerApplicationContext.class)
    static class ManagementConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeManagementServerStop")
        ManagementServerStop ireeManagementServerStop(ApplicationContext context) {
            ManagementServerStop stop = new ManagementServerStop(context);
            if (context.getParent() instanceof ConfigurableApplicationContext application) {
                application.addApplicationListener(stop); // a parent does not publish its events to children
            }
            return stop;
        }
    }

    /** Configuration for Actuator's Tomcat, which does not see customizers of the application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnBean(IreeStopping.class)
    @ConditionalOnClass({ConfigurableTomcatWebServerFactory.class, StandardContext.class})
    static class ManagementTomcatConfiguration {

        @Bean
        @ConditionalOnMissingBean(name = "ireeManagementTomcatStop")
        WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> ireeManagementTomcatStop(
                Environment environment) {
            return limits(environment);
        }
    }

    /**
     * Stops the web server of Actuator with the servers of the application. The graceful shutdown of this server begins
     * after the graceful shutdown of the application's, and would wait anew.
     */
    static final class ManagementServerStop implements ApplicationListener<StopOverdueEvent> {
        private final ApplicationContext context;

        ManagementServerStop(ApplicationContext context) {
            this.context = context;
        }

        @Override
        public void onApplicationEvent(StopOverdueEvent event) {
            end(context);
        }
    }

    private static void end(ApplicationContext context) {
        WebServer server = context instanceof WebServerApplicationContext web ? web.getWebServer() : null;
        if (server != null) {
            server.stop(); // ends the server's graceful shutdown, also one that begins later
        }
    }

    private static WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> limits(Environment environment) {
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
