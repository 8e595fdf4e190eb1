package io.github.iree4j.spring.cluster.autoconfigure;

import io.github.iree4j.cluster.identity.UrlDataSource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextClosedEvent;

/**
 * A node with programs in a separate process, and with clients whose calls are printed. The test commands the node
 * through standard input:
 *
 * <pre>{@code
 * clients SEED -> clients begin, see PrintedCalls
 * rest         -> "rest ..." when their calls have ended
 * state        -> "state WHAT": what the node lacks, nothing if it is whole
 * time         -> "time MILLIS": the time of the day that the process sees
 * tensors      -> "tensors N": the number of open tensors
 * }</pre>
 */
final class ProgramNodeMain {
    /** The state of a process without an application, or with a starting or ending application. */
    static final String NOT_READY = "not ready; ";

    /** Processes of a Linux machine have this clock in common. */
    private final PrintedCalls calls = new PrintedCalls(System::nanoTime, ProgramNodeMain::say);

    private volatile @Nullable ProgramNode node;
    private @Nullable ProgramClients clients; // owned by the thread of the commands

    /** As in users' code. */
    @Configuration(proxyBeanMethods = false)
    @Import(ClusterApplications.Application.class)
    static class Application {
        @Bean
        @ConditionalOnProperty("test.database")
        DataSource database(@Value("${test.database}") String url) {
            return new UrlDataSource(url);
        }
    }

    private static void say(String line) {
        System.out.println("> " + line);
    }

    private void obey(String[] words) {
        ProgramNode current = node;
        switch (words[0]) {
            case "clients" -> {
                ProgramClients begun = new ProgramClients(List.of(() -> node), calls, Long.parseLong(words[1]));
                clients = begun;
                begun.startCalls();
            }
            case "rest" -> {
                if (clients != null) {
                    clients.close();
                }
                say("rest of the clients");
            }
            case "state" -> say("state " + (current == null ? NOT_READY : current.missing(FaultyCluster.NODES - 1)));
            case "time" -> say("time " + System.currentTimeMillis());
            case "tensors" -> say("tensors " + (current == null ? -1 : current.openTensors()));
            default -> throw new IllegalArgumentException(String.join(" ", words));
        }
    }

    private void obeyAll() {
        try (BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = commands.readLine()) != null; ) {
                obey(line.split(" "));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Runtime.getRuntime().halt(0); // the test is gone
    }

    public static void main(String[] arguments) {
        ProgramNodeMain main = new ProgramNodeMain();
        Thread.ofPlatform().daemon().start(main::obeyAll);
        SpringApplication application = new SpringApplication(Application.class);
        application.setWebApplicationType(WebApplicationType.NONE);
        application.setLogStartupInfo(false);
        application.addListeners(
                (ApplicationListener<ApplicationReadyEvent>)
                        event -> main.node = ProgramNode.of(event.getApplicationContext()),
                (ApplicationListener<ContextClosedEvent>) _ -> main.node = null);
        application.run(arguments);
    }
}
