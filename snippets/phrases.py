# --8<-- [start:phrase]
"""A small grammar of English sentences, each with its one Chinese translation.

A sentence is a pattern, an English one and its Chinese twin, whose gaps are
filled with the same meaning in both languages.
"""

import random
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

from numerals import to_chinese, to_english


class Phrase(NamedTuple):
    """A sentence, its translation, its kind, and its facts: who does what."""

    english: str
    chinese: str
    kind: str
    facts: list[str]


def table(text: str) -> dict[str, str]:
    """English with its Chinese, from "monday 星期一, tuesday 星期二"."""
    entries = [entry.split() for entry in text.split(",")]
    return {" ".join(english): chinese for *english, chinese in entries}


# --8<-- [end:phrase]
# --8<-- [start:people]
class Subject(NamedTuple):
    """Somebody, with the pronoun and the form of "be" that go with the name."""

    english: str
    chinese: str
    pronoun: str
    be: str


SUBJECTS = [
    Subject("i", "我", "i", "am"),
    Subject("you", "你", "you", "are"),
    Subject("he", "他", "he", "is"),
    Subject("she", "她", "she", "is"),
    Subject("we", "我们", "we", "are"),
    Subject("they", "他们", "they", "are"),
    Subject("tom", "汤姆", "he", "is"),
    Subject("anna", "安娜", "she", "is"),
    Subject("the teacher", "老师", "he", "is"),
    Subject("the doctor", "医生", "she", "is"),
    Subject("the students", "学生们", "they", "are"),
    Subject("the children", "孩子们", "they", "are"),
    Subject("my mother", "我妈妈", "she", "is"),
    Subject("my father", "我爸爸", "he", "is"),
    Subject("my friends", "我的朋友们", "they", "are"),
    Subject("his wife", "他妻子", "she", "is"),
    Subject("her son", "她儿子", "he", "is"),
    Subject("your parents", "你父母", "they", "are"),
]
HEADS = table("""
    girl 女孩, boy 男孩, woman 女人, man 男人, student 学生, teacher 老师,
    doctor 医生
""")
SOMEBODY = table("""
    he 他, she 她, tom 汤姆, anna 安娜, her son 她儿子, his daughter 他女儿,
    this child 这个孩子, my friend 我的朋友
""")
OWNERS = table("my 我, your 你, his 他, her 她, our 我们, their 他们")

# --8<-- [end:people]
# --8<-- [start:actions]
FORMS = {  # base: third person, past, participle, -ing
    form.split()[0]: form.split()
    for form in (
        "buy buys bought bought buying",
        "clean cleans cleaned cleaned cleaning",
        "cook cooks cooked cooked cooking",
        "dance dances danced danced dancing",
        "do does did done doing",
        "draw draws drew drawn drawing",
        "drink drinks drank drunk drinking",
        "drive drives drove driven driving",
        "eat eats ate eaten eating",
        "get gets got got getting",
        "go goes went been going",
        "have has had had having",
        "listen listens listened listened listening",
        "make makes made made making",
        "play plays played played playing",
        "read reads read read reading",
        "rest rests rested rested resting",
        "ride rides rode ridden riding",
        "run runs ran run running",
        "sell sells sold sold selling",
        "sing sings sang sung singing",
        "sleep sleeps slept slept sleeping",
        "speak speaks spoke spoken speaking",
        "study studies studied studied studying",
        "swim swims swam swum swimming",
        "take takes took taken taking",
        "teach teaches taught taught teaching",
        "wait waits waited waited waiting",
        "wash washes washed washed washing",
        "watch watches watched watched watching",
        "work works worked worked working",
        "write writes wrote written writing",
    )
}


class Action(NamedTuple):
    """Something to do: the verb and its object, where, and how it is used.

    The uses: can (a skill), long (for hours), years (for years), ever (worth
    asking whether somebody has ever done it).
    """

    english: str
    verb: str
    object: str
    places: str
    uses: str = ""


ACTIONS = [
    Action("work", "工作", "", "home office hospital beijing", "long years"),
    Action("study", "学习", "", "home library school", "long"),
    Action("rest", "休息", "", "home park", "long"),
    Action("sleep", "睡", "觉", "home", "long"),
    Action("swim", "游", "泳", "sea", "can long"),
    Action("sing", "唱", "歌", "home school park", "can long"),
    Action("dance", "跳", "舞", "park school", "can long"),
    Action("run", "跑", "步", "park school", "long"),
    Action("draw", "画", "画", "home school park", "can long"),
    Action("cook", "做", "饭", "home kitchen", "can long"),
    Action("drive", "开", "车", "beijing shanghai", "can long"),
    Action("drink tea", "喝", "茶", "home office restaurant"),
    Action("drink coffee", "喝", "咖啡", "home office restaurant", "ever"),
    Action("drink juice", "喝", "果汁", "home restaurant"),
    Action("drink milk", "喝", "牛奶", "home kitchen"),
    Action("eat fish", "吃", "鱼", "home restaurant", "ever"),
    Action("eat meat", "吃", "肉", "home restaurant"),
    Action("eat fruit", "吃", "水果", "home office kitchen"),
    Action("eat noodles", "吃", "面条", "home restaurant", "ever"),
    Action("eat dumplings", "吃", "饺子", "home restaurant", "ever"),
    Action("make dumplings", "包", "饺子", "home kitchen", "can ever"),
    Action("make cakes", "做", "蛋糕", "home kitchen", "can ever"),
    Action("read books", "看", "书", "home library park", "long"),
    Action("read newspapers", "看", "报纸", "home office library", "long"),
    Action("watch television", "看", "电视", "home", "long"),
    Action("watch films", "看", "电影", "home cinema"),
    Action("write letters", "写", "信", "home office", "ever"),
    Action("write novels", "写", "小说", "home", "ever years"),
    Action("listen to music", "听", "音乐", "home park kitchen", "long"),
    Action("listen to the radio", "听", "广播", "home kitchen", "long"),
    Action("study chinese", "学", "中文", "school beijing", "ever long years"),
    Action("study english", "学", "英语", "school home", "ever long years"),
    Action("study history", "学", "历史", "school library", "ever years"),
    Action("study mathematics", "学", "数学", "school home", "ever long years"),
    Action("teach chinese", "教", "中文", "school beijing", "ever years"),
    Action("teach english", "教", "英语", "school shanghai", "ever years"),
    Action("teach history", "教", "历史", "school", "ever years"),
    Action("teach mathematics", "教", "数学", "school", "ever years"),
    Action("play football", "踢", "足球", "park school", "can ever long"),
    Action("play basketball", "打", "篮球", "park school", "can ever long"),
    Action("play tennis", "打", "网球", "park school", "can ever long"),
    Action("play the piano", "弹", "钢琴", "home school", "can ever long"),
    Action("play the guitar", "弹", "吉他", "home park", "can ever long"),
    Action("play chess", "下", "棋", "home park", "can long"),
    Action("ride a bicycle", "骑", "自行车", "park beijing", "can ever long"),
    Action("wash clothes", "洗", "衣服", "home"),
    Action("clean windows", "擦", "窗户", "home office school", "long"),
    Action("buy vegetables", "买", "蔬菜", "market supermarket"),
    Action("buy clothes", "买", "衣服", "market shanghai"),
    Action("sell flowers", "卖", "花", "market station"),
    Action("sell vegetables", "卖", "蔬菜", "market"),
    Action("take photos", "拍", "照片", "park museum beijing", "long"),
    Action("wait for the bus", "等", "公共汽车", "station", "long"),
]
LANGUAGES = [  # a skill, and nothing to plan for next monday
    Action("speak chinese", "说", "中文", "home school"),
    Action("speak english", "说", "英语", "office school"),
]
ROUTINES = [  # with the part of the day in place of the place
    Action("get up", "起", "床", "morning"),
    Action("have breakfast", "吃", "早饭", "morning"),
    Action("go to work", "上", "班", "morning"),
    Action("go home", "回", "家", "evening"),
    Action("have dinner", "吃", "晚饭", "evening"),
    Action("go to bed", "睡", "觉", "evening"),
]
ASKED = [  # what ... ?
    Action("do", "做", "什么", "home office"),
    Action("drink", "喝", "什么", "home office restaurant"),
    Action("eat", "吃", "什么", "home office restaurant"),
    Action("read", "看", "什么", "home library"),
    Action("watch", "看", "什么", "home"),
    Action("listen to", "听", "什么", "home park"),
    Action("write", "写", "什么", "home office"),
    Action("draw", "画", "什么", "home school park"),
    Action("study", "学", "什么", "school library"),
    Action("teach", "教", "什么", "school"),
    Action("buy", "买", "什么", "market supermarket"),
    Action("sell", "卖", "什么", "market"),
]


# --8<-- [end:actions]
# --8<-- [start:things]
class Thing(NamedTuple):
    """Something to count: its measure word, what one does with it, where it is.

    The spots: small (on a table), large (in a garden), people (in a room).
    """

    singular: str
    plural: str
    measure: str
    chinese: str
    verbs: str
    spots: str


THINGS = [
    Thing("book", "books", "本", "书", "buy read write", "small"),
    Thing("letter", "letters", "封", "信", "write read", "small"),
    Thing("newspaper", "newspapers", "份", "报纸", "buy read", "small"),
    Thing("photo", "photos", "张", "照片", "take", "small"),
    Thing("ticket", "tickets", "张", "票", "buy sell", "small"),
    Thing("map", "maps", "张", "地图", "buy draw", "small"),
    Thing("pen", "pens", "支", "笔", "buy sell", "small"),
    Thing("cake", "cakes", "个", "蛋糕", "buy eat make", "small"),
    Thing("apple", "apples", "个", "苹果", "buy eat sell", "small"),
    Thing("egg", "eggs", "个", "鸡蛋", "buy eat sell", "small"),
    Thing("fish", "fish", "条", "鱼", "buy eat sell", ""),
    Thing("cup of tea", "cups of tea", "杯", "茶", "drink buy", ""),
    Thing("cup of coffee", "cups of coffee", "杯", "咖啡", "drink buy", ""),
    Thing("bottle of water", "bottles of water", "瓶", "水", "drink buy", ""),
    Thing("bottle of juice", "bottles of juice", "瓶", "果汁", "drink buy", ""),
    Thing("film", "films", "部", "电影", "watch", ""),
    Thing("shirt", "shirts", "件", "衬衫", "buy sell wash", "small"),
    Thing("coat", "coats", "件", "大衣", "buy sell wash", "small"),
    Thing("skirt", "skirts", "条", "裙子", "buy sell make", "small"),
    Thing("umbrella", "umbrellas", "把", "雨伞", "buy sell", "small"),
    Thing("chair", "chairs", "把", "椅子", "buy sell make", "large"),
    Thing("table", "tables", "张", "桌子", "buy sell make", "large"),
    Thing("bicycle", "bicycles", "辆", "自行车", "buy sell", "large"),
    Thing("car", "cars", "辆", "车", "buy sell wash", "large"),
    Thing("cat", "cats", "只", "猫", "buy draw", "large"),
    Thing("dog", "dogs", "只", "狗", "buy draw", "large"),
    Thing("girl", "girls", "个", "女孩", "", "people"),
    Thing("child", "children", "个", "孩子", "", "people"),
    Thing("student", "students", "个", "学生", "", "people"),
]
VERBS = table("""
    buy 买, draw 画, drink 喝, eat 吃, make 做, read 看, sell 卖, take 拍,
    wash 洗, watch 看, write 写
""")
KEPT = {"buy", "draw", "make", "take", "wash", "write"}  # and still there
OWNED = ("book", "map", "pen", "umbrella", "coat", "bicycle", "car", "cat")
QUALITIES = table("expensive 贵, cheap 便宜, good 好, big 大, small 小")
BETTER = table("""
    more expensive 贵, cheaper 便宜, better 好, bigger 大, smaller 小
""")
THIS = table("this 这, that 那")
MOODS = table("""
    busy 忙, tired 累, happy 高兴, angry 生气, hungry 饿, thirsty 渴
""")
TROUBLES = table("tired 很累, ill 病了, hungry 很饿")
BUSIER = table("busier 忙, happier 高兴, taller 高")

# --8<-- [end:things]
# --8<-- [start:places]
PLACES = table("""
    in beijing 北京, at the cinema 电影院, at home 家, in the hospital 医院,
    in the kitchen 厨房, in the library 图书馆, at the market 市场,
    in the museum 博物馆, in the office 办公室, in the park 公园,
    in the restaurant 饭馆, at school 学校, in the sea 海里,
    in shanghai 上海, at the station 火车站, in the supermarket 超市
""")
PLACE_OF = {text.split()[-1]: (text, PLACES[text]) for text in PLACES}
NEAR = table("""
    the bank 银行, the cinema 电影院, the hospital 医院, the library 图书馆,
    the market 市场, the museum 博物馆, the office 办公室, the park 公园,
    the station 火车站, the supermarket 超市
""")
FAR = table("""
    beijing 北京, shanghai 上海, china 中国, italy 意大利, france 法国,
    london 伦敦, paris 巴黎
""")
BY = table("by bus 坐公共汽车, by car 开车, by bicycle 骑自行车")
BY_FAR = table("by train 坐火车, by plane 坐飞机")
SPOTS = {
    "small": table("""
        on the table 桌子上, on the chair 椅子上, under the table 桌子下面,
        under the chair 椅子下面, in the box 盒子里, in the room 房间里
    """),
    "large": table("""
        in the garden 花园里, in front of the house 房子前面,
        behind the house 房子后面, next to the library 图书馆旁边,
        in front of the museum 博物馆前面
    """),
    "people": table("""
        in the classroom 教室里, in the library 图书馆里,
        in the museum 博物馆里, in front of the cinema 电影院前面
    """),
}

# --8<-- [end:places]
# --8<-- [start:times]
WEEKDAYS = table("""
    monday 星期一, tuesday 星期二, wednesday 星期三, thursday 星期四,
    friday 星期五, saturday 星期六, sunday 星期天
""")
HABITS = {
    "every day": "每天",
    "every morning": "每天早上",
    "every evening": "每天晚上",
    "at the weekend": "周末",
    **{f"every {english}": f"每个{WEEKDAYS[english]}" for english in WEEKDAYS},
}
OFTEN = table("often 经常, usually 通常, always 总是")
PAST = {
    "yesterday": "昨天",
    "the day before yesterday": "前天",
    **{f"last {english}": f"上个{WEEKDAYS[english]}" for english in WEEKDAYS},
}
LONG_AGO = table("last week 上个星期, last month 上个月, last year 去年")
DAYS = {
    "tomorrow": "明天",
    "the day after tomorrow": "后天",
    **{f"next {english}": f"下个{WEEKDAYS[english]}" for english in WEEKDAYS},
}
FUTURE = DAYS | {
    "next week": "下个星期",
    "next month": "下个月",
    "next year": "明年",
}
MONTHS = [
    "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november", "december",
]  # fmt: skip
ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh",
    "eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth", "twentieth",
]  # fmt: skip
MINUTES = {  # before the hour in English, after it in Chinese
    "": "",
    "half past": "半",
    "a quarter past": "一刻",
    "ten past": "十分",
    "twenty past": "二十分",
}
HOURS = {
    "morning": (6, 9, "早上"),
    "afternoon": (1, 5, "下午"),
    "evening": (6, 11, "晚上"),
}
EVENTS = table("""
    film 电影, concert 音乐会, match 比赛, exam 考试, meeting 会议
""")
WEATHER = table("""
    it was raining 下雨, it was snowing 下雪, it was too hot 天气太热,
    it was too cold 天气太冷
""")

# --8<-- [end:times]
# --8<-- [start:patterns]
# Kind, English, Chinese, facts. The gaps of all are filled with the same
# meaning. In brackets: which actions or things suit (ACTIONS_OF and THINGS_OF,
# below). A pattern without facts has one: its subject and action.
PATTERNS = """
statement
  {subject} {present} | {subject}{action}
  {subject} {present} {habit} | {subject}{habit}{action}
  {subject} {often} {present} | {subject}{often}{action}
  sometimes {subject} {present} {place} | {subject}有时候在{place}{action}
negation
  {subject} {do} not {base} | {subject}不{action}
  {subject} never {present} | {subject}从来不{action}
  {subject} {do} not {base} {place} | {subject}不在{place}{action}
  {subject} {do} not {base} on {weekday} | {subject}{weekday}不{action}
  {subject} {be} not {doing} | {subject}没在{action}
  {subject} did not {base} {past} | {subject}{past}没{action}
  {subject} did not go to {near} {past} | {subject}{past}没去{near}
    | {subject}去{near}
  {subject} will not {base} {day} | {subject}{day}不{action}
  {subject} {do} not have {a_thing} [own] | {subject}没有{thing}
    | {subject}有{thing}
yes-no
  {do} {subject} {base} {habit} ? | {subject}{habit}{action}吗？
  {do} {subject} {often} {base} ? | {subject}{often}{action}吗？
  {do} {subject} {base} {place} ? | {subject}在{place}{action}吗？
  {be} {subject} {doing} ? | {subject}在{action}吗？
  did {subject} {base} {past} ? | {subject}{past}{action}了吗？
  did {subject} go to {near} {past} ? | {subject}{past}去{near}了吗？
    | {subject}去{near}
  will {subject} {base} {day} ? | {subject}{day}会{action}吗？
  can {subject} {base} ? [can] | {subject}会{action}吗？
  {do} {subject} want to {base} ? | {subject}想{action}吗？
  {do} {subject} like {doing} ? | {subject}喜欢{action}吗？
  {do} {subject} have {a_thing} ? [own] | {subject}有{thing}吗？
    | {subject}有{thing}
why
  why {do} {subject} {base} ? | {subject}为什么{action}？
  why {do} {subject} {base} {habit} ? | {subject}为什么{habit}{action}？
  why {do} {subject} not {base} ? | {subject}为什么不{action}？
  why {be} {subject} {doing} ? | {subject}为什么在{action}？
  why {do} {subject} want to {base} ? | {subject}为什么想{action}？
  why {do} {subject} like {doing} ? | {subject}为什么喜欢{action}？
  why did {subject} {base} {past} ? | {subject}{past}为什么{action}？
  why did {subject} not {base} {past} ? | {subject}{past}为什么没{action}？
  why did {subject} go to {near} {past} ? | {subject}{past}为什么去{near}？
    | {subject}去{near}
  why did {subject} {base} {count} ? [deal] | {subject}为什么{verb}了{count}？
where
  where {do} {subject} {base} ? | {subject}在哪里{action}？
  where {do} {subject} {often} {base} ? | {subject}{often}在哪里{action}？
  where {do} {subject} {base} {habit} ? | {subject}{habit}在哪里{action}？
  where did {subject} {base} {past} ? | {subject}{past}是在哪里{action}的？
  where did {subject} go {past} ? | {subject}{past}去了哪里？ | {subject}去哪里
  where {do} {subject} want to go {future} ? | {subject}{future}想去哪里？
    | {subject}去哪里
  where {do} {subject} live ? | {subject}住在哪里？ | {subject}住哪里
  where {be} {subject} ? | {subject}在哪里？ | {subject}在哪里
  where is the {thing} ? [spot] | {thing}在哪里？ | {thing}在哪里
  where did {subject} buy {this} {thing} ? [goods]
    | {subject}是在哪里买{this}{measure}{thing}的？ | {subject}买{thing}
when
  when {do} {subject} {base} ? | {subject}什么时候{action}？
  when {do} {subject} usually {base} ? | {subject}通常什么时候{action}？
  when did {subject} {base} ? | {subject}是什么时候{action}的？
  when {do} {subject} want to {base} ? | {subject}想什么时候{action}？
  when did {subject} go to {far} ? | {subject}是什么时候去{far}的？
    | {subject}去{far}
  when {do} {subject} plan to go to {far} ? | {subject}打算什么时候去{far}？
    | {subject}去{far}
  when did {subject} buy {this} {thing} ? [goods]
    | {subject}是什么时候买{this}{measure}{thing}的？ | {subject}买{thing}
  what time {do} {subject} {base} every day ? [routine]
    | {subject}每天几点{action}？
  what time {do} {subject} {base} on {weekday} ? [routine]
    | {subject}{weekday}几点{action}？
  what time does the {event} start {day} ? | {event}{day}几点开始？
    | {event}{day}开始
who
  who {third} {habit} ? | 谁{habit}{action}？
  who {often} {third} {place} ? | 谁{often}在{place}{action}？
  who is {doing} ? | 谁在{action}？
  who is {doing} {place} ? | 谁正在{place}{action}？
  who wants to {base} {place} ? | 谁想在{place}{action}？
  who likes {doing} ? | 谁喜欢{action}？
  who can {base} ? [can] | 谁会{action}？
  who {did} {past} ? | 谁{past}{action}了？
  who will {base} {day} ? | 谁{day}会{action}？
  who went to {near} {past} ? | 谁{past}去了{near}？ | 谁去{near}
  who {did} {count} {past} ? [deal] | 谁{past}{verb}了{count}？
  who has {a_thing} ? [own] | 谁有{thing}？ | 谁有{thing}
what
  what {do} {subject} {base} {habit} ? [asked] | {subject}{habit}{action}？
  what {do} {subject} {often} {base} ? [asked] | {subject}{often}{action}？
  what {do} {subject} {base} {place} ? [asked] | {subject}在{place}{action}？
  what {be} {subject} {doing} ? [asked] | {subject}在{action}？
  what did {subject} {base} {past} ? [asked] | {subject}{past}{verb}了{object}？
  what {do} {subject} want to {base} ? [asked] | {subject}想{action}？
  what {do} {subject} like {doing} ? [asked] | {subject}喜欢{action}？
  what {do} {subject} plan to {base} {day} ? [asked]
    | {subject}打算{day}{action}？
how many
  how many {things} did {subject} {base} {past} ? [deal]
    | {subject}{past}{verb}了多少{measure}{thing}？
  how many {things} {do} {subject} want to {base} ? [deal]
    | {subject}想{verb}多少{measure}{thing}？
  how many {things} {do} {subject} have ? [own]
    | {subject}有多少{measure}{thing}？ | {subject}有{thing}
  how many {things} {do} {subject} need ? [goods]
    | {subject}需要多少{measure}{thing}？ | {subject}需要{thing}
  how many {things} are there {spot} ? [spot] | {spot}有多少{measure}{thing}？
    | {thing}在{spot}
  how much does {this} {thing} cost ? [goods] | {this}{measure}{thing}多少钱？
    | {thing}多少钱
  how old {be} {subject} ? | {subject}多大了？ | {subject}多大
  how many years did {subject} {base} ? [years]
    | {subject}{verb}了多少年{object}？
past
  {subject} {did} {past} | {subject}{past}{action}了
  {subject} also {did} {past} | {subject}{past}也{action}了
  {subject} {did} again {past} | {subject}{past}又{action}了
  {subject} went to {near} {past} | {subject}{past}去了{near}
    | {subject}去{near}
  {subject} went to {far} {ago} | {subject}{ago}去了{far} | {subject}去{far}
  {subject} {did} {count} {past} [deal] | {subject}{past}{verb}了{count}
  {subject} {did} {count} {ago} [deal] | {subject}{ago}{verb}了{count}
  {subject} came back {ago} | {subject}{ago}回来了 | {subject}回来
future
  {subject} will {base} {day} | {subject}{day}会{action}
  {subject} will go to {far} {later} | {subject}{later}会去{far}
    | {subject}去{far}
  {subject} plan{s} to {base} {day} | {subject}打算{day}{action}
  {subject} plan{s} to go to {near} {day} | {subject}打算{day}去{near}
    | {subject}去{near}
  {subject} plan{s} to go to {far} {future} | {subject}打算{future}去{far}
    | {subject}去{far}
  {subject} will {base} {count} {day} [deal] | {subject}{day}会{verb}{count}
  {subject} will come back {later} | {subject}{later}会回来 | {subject}回来
now
  {subject} {be} {doing} | {subject}在{action}
  {subject} {be} {doing} now | {subject}正在{action}
  {subject} {be} still {doing} | {subject}还在{action}
  {subject} {be} {doing} {place} | {subject}正在{place}{action}
  {be} {subject} {doing} {place} ? | {subject}正在{place}{action}吗？
experience
  {subject} {have} never {done} [ever] | {subject}从来没{verb}过{object}
  {subject} {have} {done} before [ever] | {subject}以前{verb}过{object}
  {have} {subject} ever {done} ? [ever] | {subject}{verb}过{object}吗？
  why {have} {subject} never {done} ? [ever]
    | {subject}为什么从来没{verb}过{object}？
  {subject} {have} never been to {far} | {subject}从来没去过{far}
    | {subject}去{far}
  {have} {subject} ever been to {far} ? | {subject}去过{far}吗？
    | {subject}去{far}
wish
  {subject} want{s} to {base} | {subject}想{action}
  {subject} want{s} to {base} {place} | {subject}想在{place}{action}
  {subject} {do} not want to {base} | {subject}不想{action}
  {subject} like{s} {doing} | {subject}喜欢{action}
  {subject} {do} not like {doing} | {subject}不喜欢{action}
  {subject} can {base} [can] | {subject}会{action}
  {subject} cannot {base} [can] | {subject}不会{action}
  {subject} {have} to {base} {day} | {subject}{day}必须{action}
  {subject} should {base} {habit} | {subject}应该{habit}{action}
place
  {subject} {present} {place} | {subject}在{place}{action}
  {subject} {present} {place} {habit} | {subject}{habit}在{place}{action}
  {subject} {often} {present} {place} | {subject}{often}在{place}{action}
  {subject} {did} {place} {past} | {subject}{past}在{place}{action}了
  {subject} {be} {place} | {subject}在{place} | {subject}在{place}
  {subject} {be} not {place} | {subject}不在{place} | {subject}在{place}
  {be} {subject} {place} ? | {subject}在{place}吗？ | {subject}在{place}
  {subject} live{s} in {far} | {subject}住在{far} | {subject}住{far}
  the {thing} is {spot} [spot] | {thing}在{spot} | {thing}在{spot}
  the {thing} is not {spot} [spot] | {thing}不在{spot} | {thing}在{spot}
  is the {thing} {spot} ? [spot] | {thing}在{spot}吗？ | {thing}在{spot}
  there are no {things} {spot} [spot] | {spot}没有{thing} | {thing}在{spot}
  are there any {things} {spot} ? [spot] | {spot}有{thing}吗？ | {thing}在{spot}
time
  {subject} {present} {clock} | {subject}{clock}{action}
  {subject} will {base} {clock} {day} | {subject}{day}{clock}会{action}
  {subject} {present} {routine} every day [routine]
    | {subject}每天{routine}{action}
  {subject} {present} {routine} on {weekday} [routine]
    | {subject}{weekday}{routine}{action}
  the {event} starts {clock} | {event}{clock}开始 | {event}{clock}开始
  the {event} will start {clock} {day} | {event}{day}{clock}开始
    | {event}{clock}开始
  {do} {subject} {base} {routine} every day ? [routine]
    | {subject}每天{routine}{action}吗？
date
  today is {date} | 今天是{date} | 今天{date}
  {owner} birthday is on {date} | {owner}的生日是{date} | {owner}生日{date}
  is {owner} birthday on {date} ? | {owner}的生日是{date}吗？
    | {owner}生日{date}
  {subject} {was} born in {year} | {subject}是{year}出生的 | {subject}出生{year}
  {subject} {was} born on {date} {year} | {subject}是{year}{date}出生的
    | {subject}出生{year}
  {subject} came to china in {year} | {subject}是{year}来中国的
    | {subject}来中国
  {subject} will come back on {date} | {subject}{date}会回来 | {subject}回来
  {subject} will go to {far} on {date} | {subject}{date}会去{far}
    | {subject}去{far}
duration
  {subject} {did} for {span} {past} [long]
    | {subject}{past}{verb}了{span}{object}
  {subject} {present} for {span} every day [long]
    | {subject}每天{verb}{span}{object}
  how long did {subject} {base} {past} ? [long]
    | {subject}{past}{verb}了多长时间{object}？
  {subject} {did} for {years} [years] | {subject}{verb}了{years}{object}
  {subject} lived in {far} for {years} | {subject}在{far}住了{years}
    | {subject}住{far}
travel
  {subject} {go} to {near} {by} {habit} | {subject}{habit}{by}去{near}
    | {subject}去{near}
  {subject} went to {near} {by} {past} | {subject}{past}{by}去了{near}
    | {subject}去{near}
  {subject} went to {far} {by_far} {ago} | {subject}{ago}{by_far}去了{far}
    | {subject}去{far}
  {subject} will go to {far} {by_far} {future}
    | {subject}{future}会{by_far}去{far} | {subject}去{far}
  {subject} want{s} to go to {far} {by_far} | {subject}想{by_far}去{far}
    | {subject}去{far}
  how {do} {subject} go to {near} ? | {subject}怎么去{near}？
    | {subject}去{near}
  how did {subject} go to {far} ? | {subject}是怎么去{far}的？
    | {subject}去{far}
count
  {subject} {have} {count} [own] | {subject}有{count} | {subject}有{thing}
  {subject} need{s} {count} [goods] | {subject}需要{count}
    | {subject}需要{thing}
  {subject} want{s} to {base} {count} [deal] | {subject}想{verb}{count}
  did {subject} {base} {count} {past} ? [deal]
    | {subject}{past}{verb}了{count}吗？
  {subject} bought {count} and {more} [goods] | {subject}买了{count}和{more}
    | {subject}买{thing}, {subject}买{another}
  there {are} {count} {spot} [spot] | {spot}有{count} | {thing}在{spot}
  {this} {thing} costs {price} yuan [goods] | {this}{measure}{thing}{price}块钱
    | {price}
  {somebody} is {age} years old | {somebody}{age}岁 | {somebody}{age}岁
description
  {subject} {be} {mood} | {subject}很{mood} | {subject}{mood}
  {subject} {be} not {mood} | {subject}不{mood} | {subject}{mood}
  {be} {subject} {mood} ? | {subject}{mood}吗？ | {subject}{mood}
  why {be} {subject} so {mood} ? | {subject}为什么这么{mood}？ | {subject}{mood}
  {subject} {was} {mood} {past} | {subject}{past}很{mood} | {subject}{mood}
  {subject} {was} not {mood} {past} | {subject}{past}不{mood} | {subject}{mood}
  {this} {thing} is {quality} [goods] | {this}{measure}{thing}很{quality}
    | {thing}{quality}
  {this} {thing} is not {quality} [goods] | {this}{measure}{thing}不{quality}
    | {thing}{quality}
  is {this} {thing} {quality} ? [goods] | {this}{measure}{thing}{quality}吗？
    | {thing}{quality}
  this {thing} is {better} than that {thing} [goods]
    | 这{measure}{thing}比那{measure}{thing}{better} | {thing}{better}
  is this {thing} {better} than that {thing} ? [goods]
    | 这{measure}{thing}比那{measure}{thing}{better}吗？ | {thing}{better}
  {subject} {be} {busier} than {other} | {subject}比{other}{busier}
    | {subject}比{other}{busier}
relative
  the {head} who {third} lives in {far} | {action}的{head}住在{far}
    | {head}{action}, {head}住{far}
  the {head} who is {doing} is {mood} | 正在{action}的{head}很{mood}
    | {head}{action}
  who is the {head} who is {doing} ? | 正在{action}的{head}是谁？
    | {head}{action}
  {subject} know{s} the {head} who {third} {place} [years]
    | {subject}认识在{place}{action}的{head}
    | {head}{action}, {subject}认识{head}
  {do} {subject} know the {head} who {third} {place} ? [years]
    | {subject}认识在{place}{action}的{head}吗？
    | {head}{action}, {subject}认识{head}
  the {head} who can {base} is {owner} friend [can]
    | 会{action}的{head}是{owner}的朋友 | {head}{action}
  the {thing} that {subject} {did} {past} is {quality} [goods]
    | {subject}{past}{verb}的{thing}很{quality}
  the {thing} that {subject} {did} is {spot} [made]
    | {subject}{verb}的{thing}在{spot}
  where is the {thing} that {subject} {did} {past} ? [made]
    | {subject}{past}{verb}的{thing}在哪里？
  this is the {thing} that {subject} {did} [made] | 这是{subject}{verb}的{thing}
because
  {subject} did not {base} because {pronoun} {was} {trouble}
    | 因为{subject}{trouble}，所以没{action}
  {subject} did not {base} because {pronoun} had no time
    | 因为{subject}没有时间，所以没{action}
  {subject} did not {base} because {weather}
    | 因为{weather}，所以{subject}没{action}
  {subject} will not {base} today because {pronoun} {be} {trouble}
    | 因为{subject}{trouble}，所以今天不{action}了
  {subject} {present} {habit} because {pronoun} {have} time
    | 因为{subject}有时间，所以{habit}{action}
  {subject} went home {past} because {pronoun} {was} {trouble}
    | 因为{subject}{trouble}，所以{past}回家了 | {subject}回家
  {subject} did not buy the {thing} because it was too expensive [goods]
    | 因为那{measure}{thing}太贵了，所以{subject}没买 | {subject}买{thing}
"""

# --8<-- [end:patterns]
# --8<-- [start:numbers]
Gap = tuple[str, str]  # what stands there in English, and in Chinese


def number(n: int) -> Gap:
    """A number before a measure word: there, 2 is 两."""
    return to_english(n), "两" if n == 2 else to_chinese(n)


def counted(rng: random.Random, n: int, thing: Thing) -> Gap:
    """So many of a thing: two books, 两本书; one of it may be "a book"."""
    english, chinese = number(n)
    chinese += thing.measure + thing.chinese
    if n > 1:
        return f"{english} {thing.plural}", chinese
    return rng.choice([with_article(thing), f"one {thing.singular}"]), chinese


def with_article(thing: Thing) -> str:
    """A book, an apple, an hour."""
    vowel = thing.singular[0] in "aeiou" or thing.singular == "hour"
    return f"{'an' if vowel else 'a'} {thing.singular}"


def small(rng: random.Random) -> int:
    """Some number from 1 to 40, more often below 13."""
    return rng.randint(1, rng.choice([1, 12, 12, 40]))


MINUTE = Thing("minute", "minutes", "", "分钟", "", "")
HOUR = Thing("hour", "hours", "个", "小时", "", "")
DAY = Thing("day", "days", "", "天", "", "")
WEEK = Thing("week", "weeks", "个", "星期", "", "")
MONTH = Thing("month", "months", "个", "月", "", "")
YEAR = Thing("year", "years", "", "年", "", "")


def some_time(rng: random.Random) -> Gap:
    """Two weeks, 两个星期."""
    unit = rng.choice([DAY, WEEK, MONTH, YEAR])
    return counted(rng, rng.randint(1, 12), unit)


def ago(rng: random.Random) -> Gap:
    """Two weeks ago, 两个星期前; or last year, 去年."""
    if rng.random() < 0.3:
        return rng.choice([*LONG_AGO.items()])
    english, chinese = some_time(rng)
    return f"{english} ago", f"{chinese}前"


def later(rng: random.Random) -> Gap:
    """In two weeks, 两个星期后."""
    english, chinese = some_time(rng)
    return f"in {english}", f"{chinese}后"


def span(rng: random.Random) -> Gap:
    """Two hours, 两个小时; ten minutes, 十分钟."""
    if rng.random() < 0.5:
        return counted(rng, rng.randint(1, 12), HOUR)
    return counted(rng, 5 * rng.randint(1, 11), MINUTE)


def years(rng: random.Random) -> Gap:
    """Two years, 两年; two months, 两个月."""
    return counted(rng, rng.randint(1, 12), rng.choice([MONTH, YEAR]))


def clock(rng: random.Random, part: str = "") -> Gap:
    """At half past two in the afternoon, 下午两点半."""
    part = part or rng.choice([*HOURS])
    first, last, chinese_part = HOURS[part]
    hour = rng.randint(first, last)
    minutes = rng.choice([*MINUTES])
    english, chinese = number(hour)
    english = f"{minutes} {english}" if minutes else f"{english} o'clock"
    chinese = f"{chinese_part}{chinese}点{MINUTES[minutes]}"
    return f"at {english} in the {part}", chinese


def date(rng: random.Random) -> Gap:
    """The third of may, 五月三号."""
    month, day = rng.randint(1, 12), rng.randint(1, 31)
    if day > 28:
        month = rng.choice([1, 3, 5, 7, 8, 10, 12])
    tens, ones = divmod(day, 10)
    if day <= 20:
        ordinal = ORDINALS[day - 1]
    elif ones:
        ordinal = f"{to_english(10 * tens)}-{ORDINALS[ones - 1]}"
    else:
        ordinal = "thirtieth"
    english = f"the {ordinal} of {MONTHS[month - 1]}"
    return english, f"{to_chinese(month)}月{to_chinese(day)}号"


def year(rng: random.Random) -> Gap:
    """Nineteen ninety-eight, 一九九八年; two thousand and five, 二零零五年."""
    n = rng.randint(1950, 2019)
    chinese = "".join(to_chinese(int(digit)) for digit in str(n)) + "年"
    if 2000 <= n <= 2009:
        return to_english(n), chinese
    return f"{to_english(n // 100)} {to_english(n % 100)}", chinese


# --8<-- [end:numbers]
# --8<-- [start:filling]
def one_of(table: dict[str, str]) -> Callable[[random.Random], Gap]:
    pairs = list(table.items())
    return lambda rng: rng.choice(pairs)


GAPS = {
    "age": lambda rng: number(rng.randint(2, 99)),
    "ago": ago,
    "better": one_of(BETTER),
    "busier": one_of(BUSIER),
    "by": one_of(BY),
    "by_far": one_of(BY_FAR),
    "clock": clock,
    "date": date,
    "day": one_of(DAYS),
    "event": one_of(EVENTS),
    "far": one_of(FAR),
    "future": one_of(FUTURE),
    "habit": one_of(HABITS),
    "head": one_of(HEADS),
    "later": later,
    "mood": one_of(MOODS),
    "near": one_of(NEAR),
    "often": one_of(OFTEN),
    "owner": one_of(OWNERS),
    "past": one_of(PAST),
    "price": lambda rng: number(rng.randint(100, 999)),
    "quality": one_of(QUALITIES),
    "somebody": one_of(SOMEBODY),
    "this": one_of(THIS),
    "span": span,
    "trouble": one_of(TROUBLES),
    "weather": one_of(WEATHER),
    "weekday": one_of(WEEKDAYS),
    "year": year,
    "years": years,
}


def subject_gaps(rng: random.Random) -> dict[str, Gap]:
    """Somebody, and the English words that go with the name."""
    subject = rng.choice(SUBJECTS)
    other = rng.choice([s for s in SUBJECTS[6:] if s != subject])
    third = subject.be == "is"
    return {
        "subject": (subject.english, subject.chinese),
        "other": (other.english, other.chinese),
        "pronoun": (subject.pronoun, ""),
        "be": (subject.be, ""),
        "was": ("were" if subject.be == "are" else "was", ""),
        "do": ("does" if third else "do", ""),
        "have": ("has" if third else "have", ""),
        "go": ("goes" if third else "go", ""),
        "s": ("s" if third else "", ""),
    }


def action_gaps(
    action: Action, rng: random.Random, third: bool
) -> dict[str, Gap]:
    """The forms of a verb with what follows it; where or when that is done."""
    base, *rest = action.english.split(" ", 1)
    forms = [" ".join([form, *rest]) for form in FORMS[base]]
    names = ["base", "third", "did", "done", "doing"]
    gaps = {name: (form, "") for name, form in zip(names, forms, strict=True)}
    place = rng.choice(action.places.split() or [""])
    if place in HOURS:
        gaps["routine"] = clock(rng, place)
    elif place:
        gaps["place"] = PLACE_OF[place]
    return gaps | {
        "present": gaps["third" if third else "base"],
        "action": ("", action.verb + action.object),
        "verb": ("", action.verb),
        "object": ("", action.object),
    }


def thing_gaps(thing: Thing, rng: random.Random) -> dict[str, Gap]:
    """A thing, how many of it, and where it is."""
    n, another = small(rng), rng.choice(THINGS_OF["goods"])
    gaps = {
        "thing": (thing.singular, thing.chinese),
        "things": (thing.plural, thing.chinese),
        "a_thing": (with_article(thing), thing.chinese),
        "measure": ("", thing.measure),
        "count": counted(rng, n, thing),
        "are": ("is" if n == 1 else "are", ""),
        "more": counted(rng, small(rng), another),
        "another": ("", another.chinese),
    }
    if thing.spots:
        gaps["spot"] = rng.choice([*SPOTS[thing.spots].items()])
    return gaps


# --8<-- [end:filling]
# --8<-- [start:phrases]
PLACED = [thing for thing in THINGS if thing.spots]
THINGS_OF = {
    "deal": [thing for thing in THINGS if thing.verbs],
    "own": [thing for thing in THINGS if thing.singular in OWNED],
    "spot": PLACED,
    "goods": [thing for thing in PLACED if "buy" in thing.verbs],
    "made": [thing for thing in PLACED if KEPT & {*thing.verbs.split()}],
}
ACTIONS_OF = {
    use: [action for action in ACTIONS if use in action.uses.split()]
    for use in ("can", "ever", "long", "years")
}
ACTIONS_OF["can"] += LANGUAGES
ACTIONS_OF |= {"": ACTIONS, "asked": ASKED, "routine": ROUTINES}


def patterns_of_kinds() -> dict[str, list[list[str]]]:
    """The patterns of each kind: English, use in brackets, Chinese, facts."""
    of_kind: dict[str, list[list[str]]] = {}
    kind = ""
    for line in PATTERNS.strip().replace("\n    |", " |").splitlines():
        if line.startswith("  "):
            english, chinese, *facts = line.strip().split(" | ")
            english, _, use = english.rstrip("]").partition(" [")
            if not facts:
                facts = ["{subject}" if "{subject}" in chinese else "谁"]
                facts[0] += "{action}"
            of_kind[kind].append([english, use, chinese, *facts])
        else:
            kind = line
            of_kind[kind] = []
    return of_kind


OF_KIND = patterns_of_kinds()
KINDS = list(OF_KIND)


def phrase(kind: str, rng: random.Random) -> Phrase:
    """A random sentence of this kind; ValueError for a kind not in KINDS."""
    if kind not in OF_KIND:
        raise ValueError(f"kind is {', '.join(KINDS)}, not {kind!r}")
    english, use, chinese, facts = rng.choice(OF_KIND[kind])
    names = re.findall(r"{(\w+)}", english + chinese)
    gaps = subject_gaps(rng)
    third = gaps["s"][0] == "s"
    if use in THINGS_OF:
        thing = rng.choice(THINGS_OF[use])
        gaps |= thing_gaps(thing, rng)
        verbs = [v for v in thing.verbs.split() if use == "deal" or v in KEPT]
        verb = rng.choice(verbs or ["buy"])
        action = Action(verb, VERBS[verb], thing.chinese, "")
    else:
        action = rng.choice(ACTIONS_OF[use])
    gaps |= action_gaps(action, rng, third)
    gaps |= {name: GAPS[name](rng) for name in names if name in GAPS}
    in_english = {name: gap[0] for name, gap in gaps.items()}
    in_chinese = {name: gap[1] for name, gap in gaps.items()}
    return Phrase(
        english.format_map(in_english),
        chinese.format_map(in_chinese),
        kind,
        facts.format_map(in_chinese).split(", "),
    )


def part_of(fact: str) -> str:
    """The part of the data that all sentences with this fact belong to."""
    number = zlib.crc32(fact.encode()) % 12
    return {10: "test", 11: "validation"}.get(number, "train")


# --8<-- [end:phrases]
