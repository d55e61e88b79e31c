"""The search finds standard terms, and the page that explains each comes first."""

import re

import pytest
from playwright.sync_api import Page, expect

# The terms that each page explains.
TERMS = {
    "en": {
        "embeddings": ["tokenization", "embedding", "byte-pair encoding"],
        "positional-encoding": ["positional encoding", "sinusoidal"],
        "attention": ["scaled dot-product attention", "dot product", "self-attention", "queries"],
        "multi-head-attention": ["multi-head attention", "heads"],
        "masks": ["mask", "padding mask", "causal mask"],
        "sublayers": ["feed-forward network", "residual connection", "position-wise"],
        "layer-norm": ["layer normalization", "normalization", "pre-norm"],
        "encoder-decoder": ["cross-attention", "encoder", "decoder"],
        "full-model": ["logits", "counting parameters", "weight tying"],
        "initialization": ["initialization"],
        "data": ["training set"],
        "training": ["learning rate", "warm-up", "label smoothing", "teacher forcing"],
        "learned": ["ablation", "generalization"],
        "decoding": ["KV cache", "beam search", "greedy decoding", "temperature"],
        "variants": ["rotary", "RMSNorm", "SwiGLU", "ALiBi", "grouped queries", "sliding window"],
        "models": ["LLaMA", "einops"],
    },
    "zh": {
        "embeddings": ["分词", "词嵌入", "字节对编码"],
        "positional-encoding": ["位置编码", "正弦"],
        "attention": ["缩放点积注意力", "点积", "自注意力"],
        "multi-head-attention": ["多头注意力"],
        "masks": ["掩码", "填充掩码", "因果掩码"],
        "sublayers": ["前馈网络", "残差连接", "逐位置"],
        "layer-norm": ["层归一化", "归一化", "前置归一化"],
        "encoder-decoder": ["交叉注意力", "编码器", "解码器"],
        "full-model": ["参数量", "权重共享"],
        "initialization": ["初始化"],
        "data": ["训练集"],
        "training": ["学习率", "学习率预热", "标签平滑", "教师强制"],
        "learned": ["消融实验", "泛化"],
        "decoding": ["KV 缓存", "束搜索", "贪心解码", "温度"],
        "variants": ["旋转位置编码", "RMSNorm", "SwiGLU", "ALiBi", "分组查询", "滑动窗口"],
        "models": ["LLaMA", "einops"],
    },
}


def first_result(page: Page, term: str) -> str | None:
    """The address of the first result for a term."""
    field, results = page.locator(".md-search__input"), page.locator(".md-search-result__link")
    field.fill("")
    field.press("Shift")  # Chinese comes from an input method, and a key ends that
    expect(results).to_have_count(0)
    field.fill(term)
    field.press("Shift")
    results.first.wait_for(state="attached")
    return results.first.get_attribute("href")


@pytest.mark.parametrize("language", TERMS)
@pytest.mark.parametrize("width", [1280])
def test_the_page_that_explains_a_term_is_found_first(checked_page: Page, home_url, language):
    checked_page.goto(home_url)
    checked_page.locator(".md-search__input").click()
    groups = TERMS[language].items()
    assert sum(len(terms) for _, terms in groups) >= 40
    errors = []
    for name, terms in groups:
        for term in terms:
            found = first_result(checked_page, term) or ""
            if not re.match(f"{re.escape(home_url)}{name}/", found):
                errors.append(f"{term}: {found.removeprefix(home_url)}, not {name}")
    assert not errors, "\n".join(errors)
