package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.Programs;
import io.github.iree4j.spring.ai.IreeChatModel;
import io.github.iree4j.spring.ai.QueuedChat;
import io.github.iree4j.spring.ai.SmallDecoder;
import java.net.Socket;
import java.nio.file.Path;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/** Clients that close their connections while their requests wait for their turn in a compiled decoder's generator. */
@SpringBootTest(
        classes = QueuedClientsTests.Application.class,
        webEnvironment = WebEnvironment.RANDOM_PORT,
        properties = "iree.openai.enabled=true")
@Timeout(300)
class QueuedClientsTests {

    @TempDir
    private static Path folder;

    @LocalServerPort
    private int port;

    @Autowired
    private QueuedChat chat;

    @Autowired
    private IreeChatModel model;

    @DynamicPropertySource
    static void decoder(DynamicPropertyRegistry registry) {
        for (String each : SmallDecoder.properties(folder)) {
            if (each.startsWith("iree.modules.")) {
                registry.add(each.substring(0, each.indexOf('=')), () -> each.substring(each.indexOf('=') + 1));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLeavingClientEndsItsWaitingRequest(boolean stream) throws Exception {
        chat.hold();
        try {
            try (Socket socket = LeavingClientsTests.send(
                    port, OpenAiServer.CHAT, OpenAiServer.with(OpenAiServer.HELLO, "\"stream\": " + stream))) {
                chat.awaitRequest();
                if (stream) {
                    LeavingClientsTests.awaitEvent(socket);
                }
            }
            assertThat(chat.awaitEnd()).containsInstanceOf(CancellationException.class);
        } finally {
            chat.release();
        }
        assertThat(model.call("Hello")).as("the next answer").isNotEmpty();
        chat.awaitRequest();
        assertThat(chat.awaitEnd()).isEmpty();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {
        @Bean
        QueuedChat queuedChat(Programs programs) {
            return new QueuedChat(programs, folder);
        }

        @Bean
        IreeChatModel chatModel(QueuedChat chat) {
            return chat.model();
        }
    }
}
