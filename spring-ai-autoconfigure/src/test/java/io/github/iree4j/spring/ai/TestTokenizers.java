package io.github.iree4j.spring.ai;

import java.nio.charset.StandardCharsets;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;

/** Tokenizers of a few words. */
public final class TestTokenizers {

    /** Numbers of {@code [CLS]} and {@code [SEP]}, which are around each text. */
    public static final long CLS = 2;

    public static final long SEP = 3;

    /** As a model like BERT has it, with a limit of 16 tokens. Words: {@code one} is 10, up to {@code nine}, 18; letters are 20 and more. */
    public static final String BERT = """
            {"version": "1.0",
             "truncation": {"direction": "Right", "max_length": 16, "strategy": "LongestFirst", "stride": 0},
             "padding": null,
             "added_tokens": [
               {"id": 0, "content": "[PAD]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
               {"id": 2, "content": "[CLS]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true},
               {"id": 3, "content": "[SEP]", "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}],
             "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
             "pre_tokenizer": {"type": "BertPreTokenizer"},
             "post_processor": {"type": "TemplateProcessing",
               "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
               "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
                 {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
               "special_tokens": {
                 "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                 "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
             "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
             "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
               "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3,
                 "one": 10, "two": 11, "three": 12, "four": 13, "five": 14, "six": 15, "seven": 16, "eight": 17, "nine": 18,
                 "a": 20, "##a": 21, "b": 22, "##b": 23}}}
            """;

    /** Words and nothing else: a text may have no tokens, and one with an unknown word fails. */
    public static final String BARE = """
            {"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
             "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
             "model": {"type": "WordLevel", "unk_token": "[UNK]", "vocab": {"one": 0, "two": 1}}}
            """;

    private TestTokenizers() {}

    public static Resource file(String json) {
        return new ByteArrayResource(json.getBytes(StandardCharsets.UTF_8), "tokenizer.json of the test");
    }

    public static HuggingFaceTextTokenizer bert() {
        return HuggingFaceTextTokenizer.load(file(BERT));
    }
}
