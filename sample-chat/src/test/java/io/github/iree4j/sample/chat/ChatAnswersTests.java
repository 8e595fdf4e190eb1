package io.github.iree4j.sample.chat;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.ai.chat.messages.AssistantMessage.ToolCall;
import org.springframework.ai.chat.messages.UserMessage;
import org.springframework.ai.chat.model.ChatModel;
import org.springframework.ai.chat.model.ChatResponse;
import org.springframework.ai.chat.prompt.Prompt;
import org.springframework.ai.model.tool.ToolCallingChatOptions;
import org.springframework.ai.tool.ToolCallback;
import org.springframework.ai.tool.function.FunctionToolCallback;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The small model's answers: a million parameters, trained on these documents, a few questions, a tool and JSON. */
@SpringBootTest
@Timeout(600)
class ChatAnswersTests {
    @Autowired
    private ChatModel model;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    Hello | Hello! How can I help?
                    What is iree4j? | iree4j runs programs compiled by IREE on the Java virtual machine.
                    What is IREE? | IREE is a compiler and a runtime for programs of machine learning.
                    Count to five. | 1, 2, 3, 4, 5
                    Name a color. | Blue.
                    """)
    void knownQuestionsAreAnswered(String question, String answer) {
        assertThat(model.call(question)).isEqualTo(answer);
    }

    @Test
    void aToolIsCalledForTheWeather() {
        ToolCallback weather = FunctionToolCallback.builder("weather", (City city) -> "unused")
                .description("The weather of a city")
                .inputType(City.class)
                .inputSchema(
                        "{\"type\": \"object\", \"properties\": {\"city\": {\"type\": \"string\"}}, \"required\": [\"city\"]}")
                .build();
        ChatResponse response = model.call(new Prompt(
                List.of(new UserMessage("What is the weather in Vevey?")),
                ToolCallingChatOptions.builder().toolCallbacks(weather).build()));
        assertThat(response.getResult().getMetadata().getFinishReason()).isEqualTo("tool_calls");
        List<ToolCall> calls = response.getResult().getOutput().getToolCalls();
        assertThat(calls).hasSize(1);
        assertThat(calls.getFirst().name()).isEqualTo("weather");
        assertThat(calls.getFirst().arguments()).isEqualTo("{\"city\":\"Vevey\"}");
    }

    private record City(String city) {}

    @Test
    void aPersonIsDescribedAsJson() {
        assertThat(model.call("Describe Ada, 36, of Zug as JSON.")) // the model has not learned to repeat ages
                .matches("\\{\"name\": \"Ada\", \"age\": \\d+, \"city\": \"Zug\"}");
    }
}
