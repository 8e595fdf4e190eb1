package io.github.iree4j.spring.devtools;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.NativeCode;
import io.github.iree4j.Results;
import io.github.iree4j.spring.InvocationService;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Restarted once by DevTools, as after a change of a class; prints the checks at each start and exits after the second.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class DevToolsApplication {

    private static final String BEFORE = DevToolsApplication.class.getName();

    /** For Spring. */
    public DevToolsApplication() {}

    /** Starts the application. */
    public static void main(String[] arguments) {
        SpringApplication.run(DevToolsApplication.class, arguments);
    }

    @Bean
    ApplicationRunner says(IreeRuntime runtime, InvocationService invocations) {
        return arguments -> {
            Object before = System.getProperties().put(BEFORE, runtime); // outlives the restart
            int sum;
            try (Results results = invocations.invoke("adder.add", 40, 2)) {
                sum = results.intValue(0);
            }
            System.out.printf(
                    "start %d: sum %d, native code %s, class loader %s%n",
                    before == null ? 1 : 2,
                    sum,
                    NativeCode.unavailabilityCause().isEmpty() ? "works" : "does not work",
                    getClass().getClassLoader().getClass().getSimpleName());
            if (before == null) {
                Thread.ofPlatform().start(DevToolsApplication::restart);
                return;
            }
            // Survives the restart with its class, for inspection.
            IreeRuntime first = (IreeRuntime) before;
            System.out.printf(
                    "first runtime: programs %d, device %s%n",
                    first.programs().size(), first.device().failure().isEmpty() ? "open" : "closed");
            Runtime.getRuntime().halt(0);
        };
    }

    /** DevTools are on the class path of this application only. */
    private static void restart() {
        try {
            Class<?> restarter = Class.forName("org.springframework.boot.devtools.restart.Restarter");
            restarter
                    .getMethod("restart")
                    .invoke(restarter.getMethod("getInstance").invoke(null));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
