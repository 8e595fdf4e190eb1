package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.FreePorts;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.cluster.membership.MemoryMembership;
import io.github.iree4j.spring.autoconfigure.IreeAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.endpoint.IreeEndpointAutoConfiguration;
import io.github.iree4j.spring.autoconfigure.health.IreeHealthContributorAutoConfiguration;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;

/** Applications of this process as nodes of a cluster, with real connections between the nodes. */
abstract class ClusterApplications {
    @TempDir
    Path directory;

    final MemoryMembership.Network network = new MemoryMembership.Network();
    final int port = FreePorts.from(24_000 + (int) (ProcessHandle.current().pid() % 5_000)); // of the first node
    private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        ApplicationAvailabilityAutoConfiguration.class,
        IreeAutoConfiguration.class,
        IreeEndpointAutoConfiguration.class,
        IreeHealthContributorAutoConfiguration.class,
        IreeClusterAutoConfiguration.class
    })
    static class Application {}

    @AfterEach
    void closeAll() {
        applications.reversed().forEach(ConfigurableApplicationContext::close);
    }

    static Path fixture(String name) {
        return Path.of("..", "fixtures", "modules").resolve(name);
    }

    SpringApplicationBuilder application(int machine, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "iree.cluster.enabled=true",
                "iree.cluster.identity.machine=" + machine,
                "iree.cluster.identity.file=" + directory.resolve("machine" + machine),
                "iree.cluster.bind.port=" + (port + 3 * machine)));
        all.addAll(List.of(properties));
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .properties(all.toArray(String[]::new))
                .registerShutdownHook(false)
                .logStartupInfo(false)
                .initializers(context -> ((GenericApplicationContext) context)
                        .registerBean(ClusterMembership.class, () -> new MemoryMembership(network)));
    }

    ConfigurableApplicationContext start(int machine, String... properties) {
        ConfigurableApplicationContext started =
                application(machine, properties).run();
        applications.add(started);
        return started;
    }

    void stop(ConfigurableApplicationContext application) {
        applications.remove(application);
        application.close();
    }
}
