package io.github.iree4j.generation.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.github.iree4j.Effort;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.json.JsonMapper;

/** JSON schemas, compared with another validator. */
@Tag("long")
@Timeout(600)
class JsonSchemaTest {
    private static final int ROUNDS = Effort.rounds(1_600, 40_000);
    private static final long SEED = Effort.seed(JsonSchemaTest.class, ROUNDS + " schemas", 5);
    private static final SchemaRegistry SCHEMAS = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

    private static final Pattern LARGE = Pattern.compile("[0-9][eE][+]?[0-9]{2}");

    private static ByteAutomaton automaton(String schema) {
        return ByteAutomaton.of("JSON schema", JsonSchema.read(schema));
    }

    private static boolean accepts(String schema, String text) {
        return AutomatonWalk.accepts(automaton(schema), text);
    }

    @Test
    void textsAreInstancesAndInstancesAreTexts() {
        int refused = 0;
        for (int round = 0; round < ROUNDS; round++) {
            SplittableRandom random = new SplittableRandom(SEED + round);
            RandomSchema generated = new RandomSchema(random);
            String schema = generated.schema();
            ByteAutomaton automaton;
            try {
                automaton = automaton(schema);
            } catch (IreeException e) {
                assertThat(e).as(schema).hasMessageContaining("needs more than");
                refused++;
                continue;
            }
            Schema validator = SCHEMAS.getSchema(schema);
            AutomatonWalk walk = new AutomatonWalk(automaton);
            for (int i = 0; i < 10; i++) {
                String text = walk.text(random, random.nextInt(60));
                if (LARGE.matcher(text).find()) {
                    continue; // the validator reads integers as longs
                }
                assertThat(validator.validate(
                                text,
                                InputFormat.JSON,
                                context -> context.executionConfig(config -> config.formatAssertionsEnabled(true))))
                        .as("text %s of %s, round %d, seed %d", text, schema, round, SEED)
                        .isEmpty();
                String instance = generated.instance();
                assertThat(AutomatonWalk.accepts(automaton, instance))
                        .as("instance %s of %s, round %d, seed %d", instance, schema, round, SEED)
                        .isTrue();
            }
        }
        assertThat(refused).as("schemas that are too large").isLessThan(ROUNDS / 10);
    }

    @Test
    void anyObjectIsJsonToADepth() {
        ByteAutomaton automaton = ByteAutomaton.of("JSON object", JsonSchema.anyObject());
        AutomatonWalk walk = new AutomatonWalk(automaton);
        JsonMapper strict = JsonMapper.builder()
                .disable(StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION)
                .build();
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 200; i++) {
            String text = walk.text(random, random.nextInt(200));
            assertThatCode(() -> assertThat(strict.readTree(text).isObject()).isTrue())
                    .as(text)
                    .doesNotThrowAnyException();
        }
        String six = "{\"a\": {\"a\":[[[[1.5e+3, \"\\u00e9\\ud83d\\ude42\"], null]], true]}}";
        assertThat(AutomatonWalk.accepts(automaton, six)).isTrue();
        assertThat(AutomatonWalk.accepts(automaton, six.replace("1.5e+3", "[]")))
                .isFalse();
        for (String wrong : new String[] {
            "",
            "[]",
            "1",
            "{\"a\":1",
            "{\"a\":01}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":\"\\ud83d\"}",
            "{\"a\":\"\n\"}",
            "{\"a\":1} ",
            "{ \"a\":1}",
            "{\"a\":\"\\x\"}",
            "{\"a\":+1}",
            "{\"a\":.5}",
            "{\"a\":1.}",
            "{\"a\":nul}"
        }) {
            assertThat(AutomatonWalk.accepts(automaton, wrong)).as(wrong).isFalse();
        }
    }

    @Test
    void formatsOfNumbersAreTheirWidths() {
        String integer = "{\"type\": \"integer\", \"format\": \"int32\"}";
        for (String text : new String[] {"0", "-5", "2147483647", "-2147483647"}) {
            assertThat(accepts(integer, text)).as(text).isTrue();
            assertThat(accepts(integer.replace("int32", "int64"), text))
                    .as(text)
                    .isTrue();
            assertThat(accepts(integer.replace("integer", "number"), text))
                    .as(text)
                    .isTrue();
        }
        for (String text : new String[] {"2147483648", "-9999999999", "1.5", "\"0\""}) {
            assertThat(accepts(integer, text)).as(text).isFalse();
            assertThat(accepts(integer.replace("integer", "number"), text))
                    .as(text)
                    .isFalse();
        }
        String wide = integer.replace("int32", "int64");
        assertThat(accepts(wide, "1000000000000000000")).isTrue();
        assertThat(accepts(wide, "9300000000000000000")).as("no long").isFalse();
        String number = "{\"type\": [\"number\", \"null\"], \"format\": \"double\"}";
        assertThat(accepts(number, "-1.5e+3")).isTrue();
        assertThat(accepts(number, "null")).isTrue();
        String narrow = "{\"type\": \"integer\", \"format\": \"int32\", \"minimum\": 7, \"maximum\": 9999999999}";
        assertThat(accepts(narrow, "7")).isTrue();
        assertThat(accepts(narrow, "6")).isFalse();
        assertThat(accepts(narrow, "2147483648")).isFalse();
        String both = "{\"type\": [\"integer\", \"string\"], \"format\": \"date\"}";
        assertThat(accepts(both, "12345678901"))
                .as("a date is no format of numbers")
                .isTrue();
        assertThat(accepts(both, "\"2026-01-01\"")).isTrue();
        assertThat(accepts(both, "\"x\"")).isFalse();
    }

    /** The value read by Java. */
    @Test
    void durationsAndAddressesAreReadByJava() {
        SplittableRandom random = new SplittableRandom(SEED);
        AutomatonWalk durations = new AutomatonWalk(
                ByteAutomaton.of("JSON schema", JsonSchema.read("{\"type\":\"string\",\"format\":\"duration\"}")));
        AutomatonWalk addresses = new AutomatonWalk(
                ByteAutomaton.of("JSON schema", JsonSchema.read("{\"type\":\"string\",\"format\":\"uri\"}")));
        for (int i = 0; i < 200; i++) {
            String duration = JsonMapper.shared().readValue(durations.text(random, random.nextInt(40)), String.class);
            assertThatCode(() -> Duration.parse(duration)).as(duration).doesNotThrowAnyException();
            String address = JsonMapper.shared().readValue(addresses.text(random, random.nextInt(60)), String.class);
            assertThatCode(() -> URI.create(address)).as(address).doesNotThrowAnyException();
        }
    }

    @Test
    void propertiesComeInTheOrderOfTheSchema() {
        String schema = """
                {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}, "c": {"enum": [1, "x"]}},
                 "required": ["b"]}""";
        for (String text : new String[] {
            "{\"b\":null}", "{\"a\":-5,\"b\":null}", "{\"a\": 5, \"b\": null, \"c\": \"x\"}", "{\"b\":null,\"c\":1}"
        }) {
            assertThat(accepts(schema, text)).as(text).isTrue();
        }
        for (String text : new String[] {
            "{}",
            "{\"a\":5}",
            "{\"b\":null,\"a\":5}",
            "{\"b\":null,}",
            "{,\"b\":null}",
            "{\"b\":null,\"d\":1}",
            "{\"b\":null \"c\":1}",
            "{\"b\":null,\"b\":null}",
            "{\"b\":null,\"c\":2}"
        }) {
            assertThat(accepts(schema, text)).as(text).isFalse();
        }
    }

    @Test
    void withoutTypeTheKeywordsSayTheType() {
        assertThat(accepts("{\"properties\":{\"a\":true}}", "{\"a\":[1]}")).isTrue();
        assertThat(accepts("{\"properties\":{\"a\":true}}", "5")).isFalse();
        assertThat(accepts("{\"items\":{\"type\":\"null\"}}", "[null]")).isTrue();
        assertThat(accepts("{\"title\":\"anything\"}", "{\"a\":[[5]]}")).isTrue();
        assertThat(accepts("{\"title\":\"anything\"}", "{\"a\":[[[5]]]}")).isFalse();
        assertThat(accepts("{\"type\":[\"string\",\"null\"]}", "null")).isTrue();
        assertThat(accepts("{\"type\":\"object\",\"additionalProperties\":false}", "{}"))
                .isTrue();
        assertThat(accepts("{\"type\":\"object\",\"additionalProperties\":false}", "{\"a\":1}"))
                .isFalse();
    }

    @Test
    void aDiscriminatorMakesObjectsExclusive() {
        String circle =
                "{\"properties\":{\"kind\":{\"const\":\"circle\"},\"r\":{\"type\":\"number\"}},\"type\":\"object\",\"required\":[\"kind\"]}";
        String square =
                "{\"properties\":{\"kind\":{\"const\":\"square\"},\"a\":{\"type\":\"number\"}},\"type\":\"object\",\"required\":[\"kind\"]}";
        String schema = "{\"oneOf\":[{\"$ref\":\"#/$defs/c\"},%s],\"$defs\":{\"c\":%s}}".formatted(square, circle);
        assertThat(accepts(schema, "{\"kind\":\"circle\",\"r\":1}")).isTrue();
        assertThat(accepts(schema, "{\"kind\":\"square\",\"r\":1}")).isFalse();
        rejected(schema.replace("square\"}", "circle\"}"), "a value may fit several schemas of 'oneOf'");
        rejected(schema.replace(",\"required\":[\"kind\"]", ""), "a value may fit several schemas of 'oneOf'");
        rejected("{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}", "a value may fit several");
        rejected("{\"oneOf\":[{\"const\":1},{\"const\":1.0}]}", "a value may fit several");
        rejected("{\"oneOf\":[{\"properties\":{\"a\":true}},{\"type\":\"null\"}]}", "a value may fit several");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '`',
            value = {
                "{~the JSON schema is not JSON",
                "{\"type\":\"null\",\"type\":\"null\"}~the JSON schema is not JSON",
                "5~JSON schema, #: a schema is an object or true, not 5",
                "false~a schema is an object or true, not false",
                "{\"type\":\"text\"}~type \"text\" is unknown; known are [array, boolean, integer, null, number, object, string]",
                "{\"type\":[]}~'type' names no type",
                "{\"not\":{}}~keyword 'not' is not supported here",
                "{\"allOf\":[{}]}~keyword 'allOf' is not supported here",
                "{\"type\":\"array\",\"uniqueItems\":true}~'uniqueItems' is true; items that differ are not supported",
                "{\"type\":\"string\",\"minimum\":1}~keyword 'minimum' is not supported here; supported are [format, maxLength, minLength, pattern, type]",
                "{\"properties\":{\"a\":{\"if\":{}}}}~JSON schema, #/properties/a: keyword 'if'",
                "{\"items\":{\"type\":\"number\",\"maximum\":5}}~#/items: 'maximum' of numbers is not supported, except a minimum of 0",
                "{\"type\":\"integer\",\"multipleOf\":5}~keyword 'multipleOf' is not supported here",
                "{\"type\":\"integer\",\"minimum\":5,\"maximum\":4}~no integer is from 5 to 4",
                "{\"type\":\"integer\",\"minimum\":1e300}~'minimum' is 1.0E300, not a number from -1000000000000000000 to",
                "{\"type\":\"integer\",\"minimum\":\"1\"}~'minimum' is \"1\", not a number",
                "{\"type\":\"string\",\"format\":\"regex\"}~format \"regex\" is not supported; supported are [date, date-time, duration, ipv4, time, uri, uuid]",
                "{\"type\":\"integer\",\"format\":\"int16\"}~format \"int16\" of numbers is not supported; supported are [double, float, int32, int64]",
                "{\"type\":\"number\",\"format\":5}~format 5 of numbers is not supported",
                "{\"type\":\"integer\",\"format\":\"int32\",\"minimum\":2147483648}~no integer is from 2147483648 to 2147483647",
                "{\"type\":\"string\",\"pattern\":\"(\"}~regular expression '('",
                "{\"type\":\"string\",\"pattern\":\"a\",\"maxLength\":4}~are supported one at a time",
                "{\"type\":\"string\",\"minLength\":4,\"maxLength\":3}~'minLength' is 4, more than 'maxLength', 3",
                "{\"type\":\"string\",\"minLength\":-1}~'minLength' is -1, not an integer from 0",
                "{\"type\":\"string\",\"maxLength\":100000}~the JSON schema needs more than 131072 states",
                "{\"type\":\"string\",\"maxLength\":900}~the JSON schema needs more than 524288 transitions of its automaton",
                "{\"type\":\"object\",\"required\":[\"b\"]}~required [b] have no schema in 'properties'",
                "{\"type\":\"object\",\"required\":5}~'required' is 5, not a list of names",
                "{\"properties\":[]}~'properties' is [], not an object",
                "{\"properties\":{},\"additionalProperties\":5}~'additionalProperties' is 5, not a schema",
                "{\"enum\":[]}~'enum' is no list of one or more values",
                "{\"enum\":[\"a\",5],\"type\":\"string\"}~value 5 is not of type [string]",
                "{\"const\":1e999}~beyond the numbers of doubles",
                "{\"enum\":[-1e999]}~beyond the numbers of doubles",
                "{\"type\":\"integer\",\"minimum\":1e999}~'minimum' is",
                "{\"const\":\"\\ud800\"}~has a surrogate without the other half",
                "{\"anyOf\":[]}~'anyOf' is no list of one or more schemas",
                "{\"anyOf\":[{}],\"type\":\"object\"}~keyword 'type' is not supported here; supported are [anyOf]",
                "{\"$ref\":\"#\"}~recursive schemas are not supported",
                "{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"items\":{\"$ref\":\"#/$defs/a\"}}}}~recursive schemas are not supported",
                "{\"$ref\":\"#/$defs/b\"}~$ref is \"#/$defs/b\", which the schema does not have",
                "{\"$ref\":\"http://a.org/b\"}~only places of the schema",
                "{\"$ref\":\"#b\"}~not a place of the schema",
            })
    void otherSchemasAreRejectedByName(String schema, String message) {
        rejected(schema, message);
    }

    @Test
    void growingSchemasAreRefusedWithNumbers() {
        StringBuilder doubling = new StringBuilder("{\"$ref\":\"#/$defs/a30\",\"$defs\":{\"a0\":{\"type\":\"null\"}");
        StringBuilder alternatives = new StringBuilder(doubling);
        for (int i = 1; i <= 30; i++) {
            String before = "{\"$ref\":\"#/$defs/a%d\"}".formatted(i - 1);
            doubling.append(",\"a%d\":{\"properties\":{\"x\":%s,\"y\":%s}}".formatted(i, before, before));
            alternatives.append(",\"a%d\":{\"anyOf\":[%s,%s]}".formatted(i, before, before));
        }
        rejected(doubling.append("}}").toString(), "needs more than 131072 states");
        rejected(alternatives.append("}}").toString(), "construction steps");
        rejected(
                alternatives
                        .insert(1, "\"oneOf\":[{\"$ref\":\"#/$defs/a30\"},{\"type\":\"null\"}],")
                        .toString()
                        .replace("\"$ref\":\"#/$defs/a30\",\"$defs\"", "\"$defs\""),
                "a value may fit several");
        rejected(" ".repeat(65537), "the JSON schema has 65537 characters, at most 65536 are read");
        rejected("{\"items\":".repeat(65) + "true" + "}".repeat(65), "more than 64 schemas in each other");
        rejected("[".repeat(30_000), "the JSON schema is not JSON");
        rejected("{\"const\":" + "[".repeat(400) + "]".repeat(400) + "}", "more than 500 nested parts");
        rejected("{\"oneOf\":[" + "true,".repeat(64) + "true]}", "'oneOf' has 65 schemas, at most 64 are compared");
        StringBuilder deep = new StringBuilder("{\"properties\":{\"last\":{\"$ref\":\"#/$defs/a300\"}");
        StringBuilder definitions = new StringBuilder("},\"$defs\":{\"a0\":true");
        for (int i = 1; i <= 300; i++) { // each reference is known when met again, so the levels add up
            definitions.append(",\"a%d\":{\"items\":{\"$ref\":\"#/$defs/a%d\"}}".formatted(i, i - 1));
            deep.insert(15, "\"p%d\":{\"$ref\":\"#/$defs/a%d\"},".formatted(300 - i, 300 - i));
        }
        rejected(deep.append(definitions).append("}}").toString(), "more than 500 nested parts");
    }

    @Test
    void integersBeyondDoublesAreRejectedAsOtherLargeNumbers() {
        String huge = "1" + "0".repeat(400);
        for (String each : new String[] {huge, "-" + huge}) {
            rejected("{\"type\":\"integer\",\"minimum\":%s}".formatted(each), "not a number from -1000000000000000000");
            rejected("{\"exclusiveMaximum\":%s,\"type\":\"integer\"}".formatted(each), "not a number from");
            rejected("{\"type\":\"number\",\"minimum\":%s}".formatted(each), "except a minimum of 0");
            rejected("{\"enum\":[1,%s]}".formatted(each), "beyond the numbers of doubles");
            rejected("{\"const\":{\"a\":[%s]}}".formatted(each), "beyond the numbers of doubles");
            rejected("{\"type\":\"string\",\"maxLength\":%s}".formatted(each), "not an integer from 0");
        }
    }

    @Test
    void schemasOfOneOfAreComparedOnce() {
        StringBuilder schema = new StringBuilder("{\"$defs\":{");
        for (String name : new String[] {"x", "y"}) {
            schema.append("\"%s\":{\"type\":\"object\",\"required\":[\"k\"],\"properties\":{\"k\":{\"enum\":["
                    .formatted(name));
            for (int i = 0; i < 3_000; i++) {
                schema.append("%s\"%s%d\"".formatted(i == 0 ? "" : ",", name, i));
            }
            schema.append("]}}},");
        }
        schema.append("\"z\":true},\"anyOf\":[");
        String both = "{\"oneOf\":[{\"$ref\":\"#/$defs/x\"},{\"$ref\":\"#/$defs/y\"}]}";
        schema.append(both).append(("," + both).repeat(250)).append("]}");
        ConstructionSteps once = new ConstructionSteps("JSON schema");
        JsonSchema.read(schema.toString().replace("," + both, ""), once);
        ConstructionSteps steps = new ConstructionSteps("JSON schema");
        JsonSchema.read(schema.toString(), steps);
        assertThat(once.count()).as("the comparison counts").isGreaterThan(9_000);
        assertThat(steps.count() - once.count())
                .as("an occurrence takes some steps, not 3000 comparisons")
                .isLessThan(250 * 10);
    }

    @Test
    void comparisonsOfConstantsCountAsSteps() {
        StringBuilder definitions = new StringBuilder("\"z\":true");
        StringBuilder union = new StringBuilder("{\"type\":\"null\"}");
        for (int i = 0; i < 63; i++) { // objects that differ by the last property only
            StringBuilder names = new StringBuilder();
            StringBuilder properties = new StringBuilder();
            for (int j = 0; j < 18; j++) {
                names.append("\"%c\",".formatted('a' + j));
                properties.append("\"%c\":{\"$ref\":\"#/$defs/e%d\"},".formatted('a' + j, i));
            }
            definitions.append(",\"e%d\":{\"enum\":[\"0\"".formatted(i));
            for (int j = 0; j < 40; j++) {
                definitions.append(",\"%d\"".formatted(40 * i + j + 1));
            }
            definitions.append(
                    "]},\"o%d\":{\"type\":\"object\",\"required\":[%s\"z\"],\"properties\":{%s\"z\":{\"const\":\"%d\"}}}"
                            .formatted(i, names, properties, i));
            union.append(",{\"$ref\":\"#/$defs/o%d\"}".formatted(i));
        }
        ConstructionSteps steps = new ConstructionSteps("JSON schema");
        JsonSchema.read("{\"oneOf\":[%s],\"$defs\":{%s}}".formatted(union, definitions), steps);
        assertThat(steps.count())
                .as("1953 pairs with 10 or more properties of 41 constants")
                .isGreaterThan(1_953 * 10 * 41);
    }

    @Test
    void aSchemaWithManyReferencesIsReadOnce() {
        StringBuilder nested = new StringBuilder("true").append(",true".repeat(6_000));
        nested.insert(0, "{\"anyOf\":[").append("]}");
        StringBuilder references = new StringBuilder();
        StringBuilder place = new StringBuilder("#/$defs");
        for (int i = 0; i < 50; i++) {
            nested.insert(0, "{\"items\":").append("}");
            references.insert(0, ",{\"$ref\":\"#/$defs/a" + "/items".repeat(50 - i) + "\"}");
        }
        String schema = "{\"anyOf\":[true%s],\"$defs\":{\"a\":%s}}".formatted(references, nested);
        ConstructionSteps steps = new ConstructionSteps("JSON schema");
        JsonSchema.read(schema, steps);
        assertThat(steps.count()).as("6050 schemas, not for each reference").isLessThan(50_000);
    }

    @Test
    void constantsInConstantsCountAsSteps() {
        String text = "a".repeat(30_000);
        String constant = "{\"const\":".repeat(60) + "\"" + text + "\"" + "}".repeat(60);
        StringBuilder schema = new StringBuilder("{\"anyOf\":[true");
        for (int i = 0; i < 60; i++) { // each place is a schema, whose constant has the others
            schema.append(",{\"$ref\":\"#/$defs/a").append("/const".repeat(i)).append("\"}");
        }
        String all = schema.append("],\"$defs\":{\"a\":")
                .append(constant)
                .append("}}")
                .toString();
        rejected(all, "needs more than 4194304 construction steps");
    }

    @Test
    void alternativesOfReferencesHaveALimit() {
        StringBuilder schema = new StringBuilder("{\"anyOf\":[true");
        StringBuilder definitions = new StringBuilder("\"a0\":{\"type\":\"null\"}");
        for (int i = 1; i < 1_000; i++) {
            if (i % 25 == 0) { // known when met again
                schema.append(",{\"$ref\":\"#/$defs/a%d\"}".formatted(i));
            }
            definitions.append(",\"a%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/a%d\"}]}".formatted(i, i - 1));
        }
        schema.append(",{\"oneOf\":[{\"type\":\"string\"},{\"$ref\":\"#/$defs/a950\"}]}],\"$defs\":{");
        rejected(schema.append(definitions).append("}}").toString(), "more than 500 alternatives in each other");
    }

    @Test
    void rangesOfIntegersHaveFewParts() {
        for (String each : new String[] {"1000000000000000000", "999999999999999999", "123456789012345678"}) {
            Expression range =
                    JsonSchema.read("{\"type\":\"integer\",\"minimum\":-%s,\"maximum\":%s}".formatted(each, each));
            assertThat(parts(range)).as(each).isLessThan(1_000);
        }
    }

    private static long parts(Expression expression) {
        return switch (expression) {
            case Expression.Range _ -> 1;
            case Expression.Chain chain -> 1 + sum(chain.parts());
            case Expression.Choice choice -> 1 + sum(choice.alternatives());
            case Expression.Repetition repetition -> 1 + parts(repetition.part()) + parts(repetition.separator());
            case Expression.Members members -> 1 + sum(members.parts()) + parts(members.separator());
        };
    }

    private static long sum(List<Expression> parts) {
        return parts.stream().mapToLong(JsonSchemaTest::parts).sum();
    }

    @Test
    void setsOfCharactersInPatternsCountAsSteps() {
        ConstructionSteps steps = new ConstructionSteps("JSON schema");
        JsonSchema.read("{\"pattern\":\"%s\"}".formatted("[^a]".repeat(1_000)), steps);
        assertThat(steps.count()).as("the same set").isLessThan(1_000);
        StringBuilder schema = new StringBuilder("{\"anyOf\":[true");
        for (int i = 0; i < 16_400; i++) {
            schema.append(i % 2_000 == 0 ? (i == 0 ? "" : "\"}") + ",{\"pattern\":\"" : "")
                    .append((char) (0x3000 + i));
        }
        rejected(schema.append("\"}]}").toString(), "needs more than 4194304 construction steps");
    }

    private static void rejected(String schema, String message) {
        assertThatThrownBy(() -> automaton(schema))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }

    /** References are fragments of URIs: other characters are written as %20. */
    @Test
    void placesOfReferencesAreDecoded() {
        for (String name :
                new String[] {"a b|a%20b", "Box[int]|Box%5Bint%5D", "%|%25", "c++|c++", "ü|%C3%BC", "a/b|a~1b"}) {
            String[] parts = name.split("\\|");
            TokenConstraint constraint = TokenConstraint.jsonSchema(
                    TokenVocabulary.bytes(),
                    "{\"$ref\": \"#/$defs/%s\", \"$defs\": {\"%s\": {\"type\": \"null\"}, \"%%25\": {\"type\": \"string\"}}}"
                            .formatted(parts[1], parts[0]));
            assertThat(constraint.automaton().next(ByteAutomaton.START, 'n'))
                    .as(name)
                    .isNotEqualTo(ByteAutomaton.DEAD);
        }
    }
}
