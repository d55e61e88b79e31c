from catalog_pairs import clean, reason_to_drop
from sentence_pairs import Text

texts = [
    ("<b>%(count)d</b> files deleted", "已删除 <b>%(count)d</b> 个文件"),
    ("_Open...", "打开(_O)..."),
    ("page %s of %s", "第 %s 页"),
    ("auth.login.failed", "登录失败"),
]
for english, chinese in texts:
    pair = Text(clean(english), clean(chinese))
    print(*pair, reason_to_drop(pair) or "kept", sep=" | ")
