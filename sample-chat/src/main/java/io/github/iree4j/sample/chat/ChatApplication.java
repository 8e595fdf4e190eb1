package io.github.iree4j.sample.chat;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Serves a chat model by OpenAI's interface, and a page that is a client of the interface. */
@SpringBootApplication
class ChatApplication {

    public static void main(String[] arguments) {
        SpringApplication.run(ChatApplication.class, arguments);
    }
}
