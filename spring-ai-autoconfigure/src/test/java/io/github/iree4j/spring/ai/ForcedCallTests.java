package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.generation.GenerationRequest;
import io.github.iree4j.generation.sampling.SamplingOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.ai.observation.conventions.AiOperationType;
import tools.jackson.databind.json.JsonMapper;

/** Calls of tools that the request forces, and text that continues other text. */
class ForcedCallTests {
    private static String schema(String parameters) {
        Map<?, ?> read = JsonMapper.shared().readValue(parameters, Map.class);
        return CallSchema.of(List.of(
                Map.of("type", "function", "function", Map.of("name", "f", "description", "", "parameters", read))));
    }

    /** "isParis" is no continuation of "The capital is". */
    @Test
    void aTextContinuingAnotherKeepsItsFirstSpace() {
        String json = """
                {"version": "1.0", "added_tokens": [{"id": 0, "content": "<s>", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}],
                 "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
                 "model": {"type": "BPE", "byte_fallback": true, "unk_token": "<s>", "merges": [],
                   "vocab": {"<s>": 0, "▁": 1, "a": 2, "▁Paris": 3}}}
                """;
        ScriptedTokens script = ScriptedTokens.of(3, 3);
        try (ChatTokenizer tokenizer = ChatTokenizer.load(TestTokenizers.file(json))) {
            for (AiOperationType each : List.of(AiOperationType.TEXT_COMPLETION, AiOperationType.CHAT)) {
                ChatEngine.Request request = new ChatEngine.Request(
                        new int[] {2}, Set.of(), 0, false, List.of(), 2, SamplingOptions.GREEDY, null, "", each);
                ChatAnswer answer = new ChatAnswer(
                        "m", request, script.submit(GenerationRequest.of(2, 2), each), Set.of(), tokenizer);
                StringBuilder text = new StringBuilder();
                answer.read(text::append);
                assertThat(text.toString()).isEqualTo(each == AiOperationType.CHAT ? "Paris Paris" : " Paris Paris");
            }
        }
    }

    @Test
    void aTokenUnknownToTheTokenizerIsRefusedWhereTheProgramDeclaresNoVocabulary(@TempDir Path folder)
            throws IOException {
        ChatSettings settings =
                ChatSettings.builder("chat", ByteTokenizer.write(folder)).build();
        try (ChatEngine engine = new ChatEngine(ScriptedTokens.of(1), settings)) {
            ChatEngine.Request request = new ChatEngine.Request(
                    new int[] {2, 2_000_000_000},
                    Set.of(),
                    0,
                    false,
                    List.of(),
                    2,
                    SamplingOptions.GREEDY,
                    null,
                    "",
                    AiOperationType.TEXT_COMPLETION);
            assertThatThrownBy(() -> engine.submit(request))
                    .hasMessageContaining("the prompt has token 2000000000; the tokenizer has tokens 0 to ");
        }
    }

    @Test
    void nullInAListStaysNull() {
        assertThat(schema("{\"type\":\"object\",\"properties\":{\"unit\":{\"enum\":[\"celsius\",null]}}}"))
                .contains("\"enum\":[\"celsius\",null]");
    }

    @Test
    void aConstantLookingLikeAReferenceStaysUnchanged() {
        assertThat(schema("{\"type\":\"object\",\"properties\":{\"p\":{\"const\":{\"$ref\":\"#/x\"}}}}"))
                .contains("\"const\":{\"$ref\":\"#/x\"}");
    }

    @Test
    void aReferenceOfAPropertyNamedLikeAKeywordIsMoved() {
        assertThat(schema("{\"type\":\"object\",\"properties\":{\"const\":{\"$ref\":\"#/$defs/a\"}},"
                        + "\"$defs\":{\"a\":{\"type\":\"string\"}}}"))
                .contains("\"const\":{\"$ref\":\"#/anyOf/0/properties/arguments/$defs/a\"}");
    }

    @Test
    void argumentsOfAFunctionWithoutParametersAreAnObject() {
        assertThat(schema("{}")).contains("\"arguments\":{\"type\":\"object\"}");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'string'}",
                "{'type':['object','null']}",
                "{'const':1}",
                "{'enum':[{},[]]}",
                "{'anyOf':[{'type':'object'},{'type':'array'}]}",
                "{'anyOf':[{'type':'object'},{}]}",
                "{'oneOf':[{'anyOf':[{'type':'object'},true]}]}",
                "{'$ref':'#/$defs/a','$defs':{'a':{'type':'string'}}}",
                "{'$ref':'#/$defs/a%20b','$defs':{'a b':{'const':0}}}",
                "{'$ref':'#/$defs/a','$defs':{'a':{'anyOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/b'}]},'b':{}}}"
            })
    void parametersOfNoObjectAreRefused(String parameters) {
        assertThatThrownBy(() -> schema(parameters.replace('\'', '"')))
                .hasMessageContaining("the parameters of a tool are not of type 'object' in each alternative");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'type':'object'}",
                "{'const':{'a':1}}",
                "{'anyOf':[{'type':'object'},{'enum':[{},{'b':[]}]}]}",
                "{'$ref':'#/$defs/a','$defs':{'a':{'type':'object'}}}",
                "{'$ref':'#/$defs/none'}",
                "{'$ref':'#/$defs/a','$defs':{'a':{'$ref':'#/$defs/a'}}}"
            })
    void objectsAndUnknownParametersAreLeftToTheConstraint(String parameters) {
        assertThat(schema(parameters.replace('\'', '"'))).contains("\"arguments\":");
    }

    @Test
    void aForcedCallMayHaveTheEndOfACallInAString() {
        ToolCallParser parser = new ToolCallParser(Set.of("f"), 0, true);
        String text = parser.add("{\"name\":\"f\",\"arguments\":{\"code\":\"a</tool_call>b\"}}") + parser.finish(true);
        assertThat(parser.calls()).hasSize(1);
        assertThat(text).isEmpty();
    }
}
