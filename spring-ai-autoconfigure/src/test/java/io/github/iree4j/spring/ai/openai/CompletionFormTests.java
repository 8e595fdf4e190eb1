package io.github.iree4j.spring.ai.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.ai.ChatAnswer.ScoredToken;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Scores of tokens whose texts are equal or no texts. */
class CompletionFormTests {
    private static ScoredToken token(int token, int offset, String latin, ScoredToken... alternatives) {
        return new ScoredToken(
                token, offset, latin.getBytes(StandardCharsets.ISO_8859_1), -token, List.of(alternatives));
    }

    @Test
    void noAlternativeReplacesAnother() {
        ObjectNode choice = JsonMapper.shared().createObjectNode();
        ScoredToken[] alternatives = {
            token(1, 0, "\u00e4\u00b8"),
            token(2, 0, "\u00e4\u00b9"),
            token(3, 0, " \\\u00e4"),
            token(4, 0, "\u00e4\u00b8\u0096"),
            token(5, 0, "a"),
            token(6, 0, "a"),
            token(7, 0, ""),
            token(8, 0, "")
        };
        CompletionForm.TEXT.scores(
                choice, List.of(token(1, 0, "\u00e4\u00b8", alternatives), token(9, 0, "\u0096b"), token(5, 2, "a")));
        assertThat(choice).hasToString("""
                {"logprobs":{"tokens":["bytes:\\\\xe4\\\\xb8","bytes:\\\\x96b","a"],\
                "token_logprobs":[-1.0,-9.0,-5.0],\
                "top_logprobs":[{"bytes:\\\\xe4\\\\xb8":-1.0,"bytes:\\\\xe4\\\\xb9":-2.0,"bytes: \\\\x5c\\\\xe4":-3.0,\
                "世":-4.0,"a":-5.0,"token_id:6":-6.0,"":-7.0,"token_id:8":-8.0},{},{}],\
                "text_offset":[0,0,2]}}""");
    }
}
