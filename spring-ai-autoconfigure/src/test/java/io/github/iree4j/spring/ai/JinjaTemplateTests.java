package io.github.iree4j.spring.ai;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Templates as models have them, and hostile ones. */
@Timeout(300)
class JinjaTemplateTests {
    private static final List<Object> MESSAGES = List.of(
            Map.of("role", "system", "content", " Be {{ 7 * 7 }}. "),
            Map.of("role", "user", "content", "Hi {% raw %} {# x #}"),
            Map.of("role", "assistant", "content", "<think>\nhm\n</think>\n\nYes"),
            Map.of("role", "user", "content", "Why?"));

    private static String render(String template) {
        return new JinjaTemplate(template, "the template", System::nanoTime)
                .render(Map.of(
                        "messages", MESSAGES, "bos_token", "<s>", "eos_token", "</s>", "add_generation_prompt", true));
    }

    @Test
    void rendersTheTemplateOfLlama() {
        assertThat(
                        render(
                                "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"))
                .isEqualTo("<s><|start_header_id|>system<|end_header_id|>\n\nBe {{ 7 * 7 }}.<|eot_id|>"
                        + "<|start_header_id|>user<|end_header_id|>\n\nHi {% raw %} {# x #}<|eot_id|>"
                        + "<|start_header_id|>assistant<|end_header_id|>\n\n<think>\nhm\n</think>\n\nYes<|eot_id|>"
                        + "<|start_header_id|>user<|end_header_id|>\n\nWhy?<|eot_id|>"
                        + "<|start_header_id|>assistant<|end_header_id|>\n\n");
    }

    @Test
    void rendersLoopsWithWhiteSpaceControlAndMethodsOfPython() {
        assertThat(render("""
                {%- set ns = namespace(last=0) %}
                {%- for message in messages[::-1] %}
                    {%- if message.role == 'user' and ns.last == 0 %}
                        {%- set ns.last = messages|length - loop.index0 %}
                    {%- endif %}
                {%- endfor %}
                {%- for message in messages %}
                    {%- set content = message.content %}
                    {%- if '</think>' in content %}
                        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
                    {%- endif %}
                    {%- if content.startswith('Why') and not content.endswith('x') or loop.last %}
                        {{- '[' + message['role'] + ':' + content.strip() + ']' }}
                    {%- elif loop.index0 > 0 %}
                        {{- '(' ~ content ~ ')' }}
                    {%- endif %}
                {%- endfor %}
                {{- ns.last }}
                """)).isEqualTo("(Hi {% raw %} {# x #})(Yes)[user:Why?]4");
    }

    @Test
    void writesJsonAsPythonDoes() {
        assertThat(render("{{ {'a': [1, none, true, 1.5], 'b': {}, 'c': 'é\"<>&\\n'} | tojson }}"))
                .isEqualTo("{\"a\": [1, null, true, 1.5], \"b\": {}, \"c\": \"é\\\"<>&\\n\"}");
        assertThat(render("{{ {'a': [1, 2], 'b': []} | tojson(indent=2) }}"))
                .isEqualTo("{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": []\n}");
    }

    @Test
    void aTemplateMayRefuseMessages() {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> render("{{ raise_exception('roles must alternate') }}"))
                .withMessage("the template refuses the messages: roles must alternate")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{ ''.getClass().forName('java.lang.Runtime') }}",
                "{{ messages.getClass() }}",
                "{{ ____int3rpr3t3r____.config }}",
                "{{ ____int3rpr3t3r____ }}",
                "{% include 'secrets' %}",
                "{% import 'file:/etc/passwd' as x %}",
                "{% extends 'x' %}",
                "{{ unknown(1) }}",
                "{{ 'x|trim' | nofilter }}",
                "{{ 1 if 'x' is not nosuch }}",
                "{% for m in messages if m.role == 'user' %}x{% endfor %}",
                "{% if %}",
                "{{ 'a' b }}",
            })
    void refusesFeaturesNeededByNoModel(String template) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> render(template))
                .withMessageStartingWith("the template ")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for i in range(999) %}{% for j in range(999) %}{% for k in range(999) %}x{% endfor %}{% endfor %}{% endfor %}",
                "{% for i in range(999) %}{% for j in range(999) %}{% for k in range(999) %}{% endfor %}{% endfor %}{% endfor %}",
                "{% macro f(x) %}{{ f(x) }}{{ f(x) }}{% endmacro %}{{ f(1) }}",
                "{% set x = 'aaaaaaaaaaaaaaaa' %}{% for i in range(999) %}{% set x = x + x %}{% endfor %}{{ x }}",
            })
    void explodingTemplatesEnd(String template) {
        AtomicLong time = new AtomicLong(); // a tenth of a second passes with each look
        JinjaTemplate hostile = new JinjaTemplate(template, "the template", () -> time.addAndGet(100_000_000));
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(() -> hostile.render(Map.of("messages", MESSAGES)))
                .satisfies(e -> assertThat(e.code()).isIn(StatusCode.RESOURCE_EXHAUSTED, StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void classesAreNoValues() {
        assertThat(render("[{{ messages.class }}{{ bos_token.bytes }}{{ messages[0].class.name }}]"))
                .isEqualTo("[]");
    }

    @ParameterizedTest
    @CsvSource({"strip,x", "lstrip,'x '", "rstrip,' x'", "upper,' X '"})
    void stripsAsPythonDoes(String method, String expected) {
        assertThat(render("{{ ' x '." + method + "() }}")).isEqualTo(expected);
    }
}
